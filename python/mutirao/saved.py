"""What mutirao saved a program, or lost it, as far as its report tells."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mutirao.units import duration


@dataclass(frozen=True)
class Saved:
    """On each rank, against the MPI library's own; a negative time is lost."""

    us: float
    known: str  # measured, predicted, or both
    calls: int  # that have a native time to compare with

    def __str__(self) -> str:
        return f"{duration(abs(self.us))} a rank"

    @property
    def verb(self) -> str:
        return "saved" if self.us >= 0 else "lost"


def saved_in(classes: Iterable[dict]) -> Saved | None:
    """Of all calls that ran by algorithms of mutirao's once settled. None: it is not known."""
    total_us, known, calls = 0.0, set(), 0
    for ruling in (ruling for of_class in classes for ruling in of_class["rulings"]):
        if not ruling["calls"] or not ruling.get("settled", True):
            continue
        for how, field in (("measured", "median_us"), ("considered", "predicted_us")):
            times_us = {row["candidate"]: row[field] for row in ruling.get(how) or ()}
            if times_us.get("native") and times_us.get(ruling["chosen"]) is not None:
                total_us += ruling["calls"] * (times_us["native"] - times_us[ruling["chosen"]])
                known.add("measured" if how == "measured" else "predicted")
                calls += ruling["calls"]
                break
    return Saved(total_us, " and ".join(sorted(known)), calls) if known else None


def all_classes(report: dict) -> Iterator[dict]:
    """Of calls, on all communicators."""
    for communicator in report["communicators"]:
        yield from communicator.get("classes", ())
