"""The choice that holds for each kind of call at the end of a run, and what is known of it."""

from dataclasses import dataclass

from mutirao.saved import own_calls

NATIVE = "native"
_BETWEEN_ARMS = " | "  # of a ruling by which several take turns


@dataclass(frozen=True)
class Choice:
    """Times are those of `arm`: the ruling's algorithm, or the fastest of those that take turns."""

    native_calls: int
    own_calls: int
    chosen: str
    settled: bool
    reason: str
    arm: str = NATIVE
    predicted_us: float | None = None
    measured: dict | None = None
    native_predicted_us: float | None = None
    native_measured: dict | None = None
    bound_us: float | None = None

    def times_native(self) -> tuple[float, str] | None:
        """How many times the native one's time, and how that is known."""
        if self.arm == NATIVE:
            return None
        if self.measured and self.native_measured:
            return self.measured["median_us"] / self.native_measured["median_us"], "measured"
        if self.predicted_us is not None and self.native_predicted_us:
            return self.predicted_us / self.native_predicted_us, "predicted"
        return None


def arms_of(ruling: dict) -> list[str]:
    return ruling["chosen"].split(_BETWEEN_ARMS)


def predicted_us(ruling: dict) -> dict[str, float | None]:
    return {row["candidate"]: row["predicted_us"] for row in ruling.get("considered") or ()}


def measured(ruling: dict) -> dict[str, dict]:
    return {row["candidate"]: row for row in ruling.get("measured") or ()}


def choice_of(of_class: dict) -> Choice:
    rulings = of_class["rulings"]
    calls = of_class["native_calls"], own_calls([of_class])
    ruling = rulings[-1] if rulings else of_class.get("native_choice")
    if not ruling:
        return Choice(*calls, NATIVE, True, "no ruling: the MPI library takes all calls")
    predicted, took, arm = predicted_us(ruling), measured(ruling), _fastest_arm(ruling)
    return Choice(*calls, ruling["chosen"], ruling.get("settled", True),
                  ruling.get("reason") or "", arm, predicted.get(arm), took.get(arm),
                  predicted.get(NATIVE), took.get(NATIVE), ruling.get("bound_us") or None)


def _fastest_arm(ruling: dict) -> str:
    """As measured, or else as predicted."""
    arms = arms_of(ruling)
    medians = {arm: row["median_us"] for arm, row in measured(ruling).items()}
    for times_us in (medians, predicted_us(ruling)):
        known = [arm for arm in arms if times_us.get(arm) is not None]
        if known:
            return min(known, key=times_us.__getitem__)
    return arms[0]
