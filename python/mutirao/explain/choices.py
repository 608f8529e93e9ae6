"""The choice that holds for each kind of call at the end of a run, and what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from mutirao.catalogue.predicted import NATIVE
from mutirao.explain.saved import own_calls, probe_calls


@dataclass(frozen=True)
class Choice:
    native_calls: int
    own_calls: int
    probe_calls: int  # of those
    chosen: str
    settled: bool
    reason: str
    predicted_us: float | None = None
    measured: dict | None = None
    native_predicted_us: float | None = None
    native_measured: dict | None = None
    bound_us: float | None = None

    def times_native(self) -> tuple[float, str] | None:
        """How many times the native one's time, and how that is known."""
        if self.chosen == NATIVE:
            return None
        if self.measured and self.native_measured:
            return self.measured["median_us"] / self.native_measured["median_us"], "measured"
        if self.predicted_us is not None and self.native_predicted_us:
            return self.predicted_us / self.native_predicted_us, "predicted"
        return None


def predicted_us(ruling: dict) -> dict[str, float | None]:
    return {row["candidate"]: row["predicted_us"] for row in ruling.get("considered") or ()}


def measured(ruling: dict) -> dict[str, dict]:
    return {row["candidate"]: row for row in ruling.get("measured") or ()}


def choices_of(of_class: dict) -> Sequence[dict]:
    """Its rulings, or the choice for native that needed none."""
    return of_class["rulings"] or [each for each in [of_class.get("native_choice")] if each]


def choice_of(of_class: dict) -> Choice:
    choices = choices_of(of_class)
    calls = of_class["native_calls"], own_calls([of_class]), probe_calls([of_class])
    if not choices:
        return Choice(*calls, NATIVE, True, "no ruling: the MPI library takes all calls")
    ruling = choices[-1]
    predicted, took, chosen = predicted_us(ruling), measured(ruling), ruling["chosen"]
    return Choice(*calls, chosen, ruling.get("settled", True), ruling.get("reason") or "",
                  predicted.get(chosen), took.get(chosen), predicted.get(NATIVE), took.get(NATIVE),
                  ruling.get("bound_us") or None)
