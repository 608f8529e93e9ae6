"""What mutirao saved a program, or lost it, as far as its report tells.

The library has the same sums for the one line at the end (src/mpi/communicator/handled.cpp).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mutirao.units import duration


@dataclass(frozen=True)
class Saved:
    """On each rank, against the MPI library's own; a negative time is lost."""

    took_us: float
    native_us: float
    known: str  # measured, predicted, or both
    calls: int  # that have a native time to compare with

    def __str__(self) -> str:
        return f"{duration(abs(self.us))} a rank"

    @property
    def us(self) -> float:
        return self.native_us - self.took_us

    @property
    def verb(self) -> str:
        return "saved" if self.us >= 0 else "lost"


def saved_in(classes: Iterable[dict]) -> Saved | None:
    """Of all calls that one algorithm of mutirao's took alone. None: it is not known."""
    parts = [part for of_class in classes for part in _parts(of_class)]
    if not parts:
        return None
    return Saved(sum(part.took_us for part in parts), sum(part.native_us for part in parts),
                 " and ".join(sorted({word for part in parts for word in part.known.split(" and ")})),
                 sum(part.calls for part in parts))


def _parts(of_class: dict) -> Iterator[Saved]:
    forgotten = of_class.get("forgotten") or {}
    if forgotten.get("compared"):
        known = " and ".join(word for word in ("measured", "predicted") if forgotten[word])
        yield Saved(forgotten["took_us"], forgotten["native_us"], known, forgotten["compared"])
    for ruling in of_class["rulings"]:
        for known, times, field in (("measured", "measured", "median_us"),
                                    ("predicted", "considered", "predicted_us")):
            times_us = {row["candidate"]: row[field] for row in ruling.get(times) or ()}
            native_us, chosen_us = times_us.get("native"), times_us.get(ruling["chosen"])
            if ruling["calls"] and native_us and chosen_us is not None:
                calls = ruling["calls"]
                yield Saved(calls * chosen_us, calls * native_us, known, calls)
                break


def own_calls(classes: Iterable[dict]) -> int:
    """That ran by algorithms of mutirao's, on trial or not."""
    return sum((of_class.get("forgotten") or {}).get("calls", 0)
               + sum(ruling["calls"] for ruling in of_class["rulings"]) for of_class in classes)


def all_classes(report: dict) -> Iterator[dict]:
    """Of calls, on all communicators."""
    for communicator in report["communicators"]:
        yield from communicator.get("classes", ())
