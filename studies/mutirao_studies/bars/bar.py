"""A bar: something that mutirao is to keep to, and how it is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mutirao.catalogue.predicted import NATIVE
from mutirao.measure.measure import Contender
from mutirao.run.mpis import Mpi, find_mpi

MPIS = ("openmpi-5", "mpich-5")
# Nothing is waited for, and no earlier job is known.
AS_IT_COMES = {"start": "beside", "profile": "off"}
# The same of programs that are short, but stand for long ones: what pays in those is set up at once.
SET_UP = {**AS_IT_COMES, "start": "soon"}


@dataclass(frozen=True)
class Finding:
    """One number that is asked for, and what it was."""

    asked: str
    measured: str
    met: bool
    value: float | None = None  # None: never, or there is none


@dataclass(frozen=True)
class Bar:
    name: str
    text: str
    minutes: float  # about how long it takes
    measure: Callable[[], Sequence[Finding]]


def on_each_mpi(name: str, text: str, minutes: float, measure: Callable[[Mpi], Sequence[Finding]]) -> list[Bar]:
    return [Bar(f"{name}-{mpi}", text, minutes, lambda mpi=mpi: measure(find_mpi(mpi))) for mpi in MPIS]


def at_most(limit: float, asked: str, value: float | None, unit: str = "", where: str = "") -> Finding:
    """`asked` is what the limit is of; `where`: of which of several this value is. None: it never came."""
    said = "never" if value is None else f"{_shown(value)}{unit}"
    return Finding(f"{asked} at most {_shown(limit)}{unit}", f"{said}{f' ({where})' if where else ''}",
                   value is not None and value <= limit, value)


def at_least(limit: float, asked: str, value: float, where: str = "") -> Finding:
    return Finding(f"{asked} at least {_shown(limit)}", f"{_shown(value)}{f' ({where})' if where else ''}",
                   value >= limit, value)


def _shown(value: float) -> str:
    """No more digits than measurements carry."""
    return f"{value:.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def default(mpi: Mpi, collective: str = "broadcast") -> Contender:
    """As the library comes, choosing by itself."""
    return Contender("default", mpi, AS_IT_COMES, collective)


def set_up(mpi: Mpi, collective: str = "broadcast") -> Contender:
    """The same as in a long program."""
    return Contender("default", mpi, SET_UP, collective)


def native(mpi: Mpi, collective: str = "broadcast") -> Contender:
    return Contender(NATIVE, mpi, None, collective)
