"""Each kind of call: what it is called, what was chosen for it, and how that compares with the MPI library's own."""

from collections.abc import Mapping, Sequence

from mutirao.base.units import counted, ratio
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import NATIVE
from mutirao.explain.saved import account_of, own_calls, probe_calls

_NO_RULING = {"chosen": NATIVE, "reason": "no ruling: the MPI library takes all calls"}


def class_title(of_class: dict) -> str:
    collective = COLLECTIVES[of_class["collective"]]
    in_order = "" if of_class.get("commutes", True) else ", operands in order"
    return f"{collective.calls(of_class['length_bytes'], of_class['root'])}{in_order}"


def predicted_us(ruling: dict) -> dict[str, float | None]:
    return {row["candidate"]: row["predicted_us"] for row in ruling.get("considered") or ()}


def measured(ruling: dict) -> dict[str, dict]:
    return {row["candidate"]: row for row in ruling.get("measured") or ()}


def choices_of(of_class: dict) -> Sequence[dict]:
    """Its rulings, or the choice for native that needed none."""
    return of_class["rulings"] or [each for each in [of_class.get("native_choice")] if each]


def last_choice(of_class: dict) -> dict:
    """That holds at the end."""
    return [_NO_RULING, *choices_of(of_class)][-1]


def _known_us(choice: dict) -> dict[str, Mapping[str, float | None]]:
    """What candidates take, by how that is known; the surest first."""
    return {"measured": {name: row["median_us"] for name, row in measured(choice).items()},
            "predicted": predicted_us(choice)}


def class_took_us(of_class: dict) -> float:
    """On a rank, as far as it is known."""
    if account := account_of(of_class):
        return account.took_us
    choice = last_choice(of_class)
    one_us = next((times[choice["chosen"]] for times in _known_us(choice).values() if times.get(choice["chosen"])), 0)
    return one_us * (of_class["native_calls"] + own_calls(of_class))


def class_row(of_class: dict) -> tuple[str, str, str]:
    """Which calls, how many, and what runs them in the end, how that compares, and what came of it."""
    choice, own = last_choice(of_class), own_calls(of_class)
    chosen = choice["chosen"]
    parts = [chosen]
    compared = [f"{ratio(times[chosen] / times[NATIVE])} x native, {how}" for how, times in _known_us(choice).items()
                if chosen != NATIVE and times.get(chosen) and times.get(NATIVE)]
    parts += compared[:1]
    if not choice.get("settled", True):
        parts.append("others were still to be tried")
    elif chosen == NATIVE and own > probe_calls(of_class):
        parts.append(f"{own} calls otherwise before")
    account = account_of(of_class)
    if account and account.clear and own:
        parts.append(f"{account} {account.verb}")
    return class_title(of_class), counted(of_class["native_calls"] + own, "call"), "; ".join(parts)
