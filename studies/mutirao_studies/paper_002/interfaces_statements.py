"""What paper 002 states, statement by statement, beside what was measured: medians of return times."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mutirao_studies.paper_002.paper_002 import MESSAGE_BYTES, TABLE_2_S, TABLE_2_SIDE, TABLE_2_WORKERS

SLIGHTLY = 1.1  # what the paper's words for a small difference are taken for
_FEW_WORKERS = (2, 4, 8)
Cell = tuple[int, int]
Case = TypeVar("Case")


@dataclass(frozen=True)
class Verdict:
    source: str
    statement: str
    holds: str  # yes, no, in 2 of 3, not measured
    here: str


class Times:
    """Medians in seconds, by the paper's names of interfaces; a cell is a number of workers and a side of tasks."""

    def __init__(self, result: dict):
        self._measured = {(transport["in_paper"], cell["workers"], cell["side"]): cell
                          for transport in papers_own(result) for cell in transport["cells"]}
        self.names = [name for name in TABLE_2_S if any(name == its for its, *_ in self._measured)]
        self.cells = sorted({(workers, side) for _, workers, side in self._measured})

    def of(self, name: str, cell: Cell, what: str = "return_s") -> float | None:
        measured = self._measured.get((name, *cell))
        return measured and statistics.median(measured[what])

    def first_by(self, extreme: Callable, cell: Cell) -> str:
        """The fastest by min, the slowest by max."""
        return extreme(self.names, key=lambda name: self.of(name, cell))


def papers_own(result: dict) -> list[dict]:
    """The paper's four; its MPI is LAM, or where that is missing the first other one."""
    own = [transport for transport in result["transports"] if transport["in_paper"]]
    if all(transport["in_paper"] != "MPI" for transport in own):
        others = [transport for transport in result["transports"]
                  if transport["name"] in result["mpis"]]
        own += [{**transport, "in_paper": "MPI"} for transport in others[:1]]
    return own


def verdicts(result: dict) -> list[Verdict]:
    times = Times(result)
    return [Verdict(source, statement, *check(times)) for source, statement, check in _STATEMENTS]


Check = Callable[[Times], tuple[str, str]]


def _counted(cases: Sequence[Case], holds: Callable[[Case], bool], shown: Callable[[Case], str]) -> tuple[str, str]:
    if not cases:
        return "not measured", ""
    count = sum(map(holds, cases))
    answer = "yes" if count == len(cases) else f"in {count} of {len(cases)}" if count else "no"
    return answer, "; ".join(map(shown, cases))


def _extreme(extreme: Callable, name: str, wanted: Callable[[int, int], bool]) -> Check:
    """That this interface is the fastest (min) or the slowest (max) in those cells."""
    def check(times: Times) -> tuple[str, str]:
        if len(times.names) < 2 or name not in times.names:
            return "not measured", ""
        return _counted([cell for cell in times.cells if wanted(*cell)],
                        lambda cell: times.first_by(extreme, cell) == name,
                        lambda cell: f"{_cell(cell)}: {times.first_by(extreme, cell)}")

    return check


def _cell(cell: Cell) -> str:
    workers, side = cell
    return f"{workers} workers, {MESSAGE_BYTES[side]} B"


def _pvm_beats_two(times: Times) -> tuple[str, str]:
    cell = (4, 25)
    names = ("PVM", "MPI", "libVIP")
    values = [times.of(name, cell) for name in names]
    if None in values:
        return "not measured", ""
    pvm, *others = values
    return ("yes" if pvm < min(others) else "no"), ", ".join(
        f"{name} {value:.3f} s" for name, value in zip(names, values, strict=True))


def _pvm_only_there(times: Times) -> tuple[str, str]:
    if "PVM" not in times.names or not times.cells:
        return "not measured", ""
    best = [cell for cell in times.cells if times.first_by(min, cell) == "PVM"]
    outside = [cell for cell in best if cell[1] == 10 or cell[0] not in _FEW_WORKERS]
    shown = "; ".join(map(_cell, best)) or "nowhere"
    return ("no" if outside or not best else "yes"), f"PVM is the fastest: {shown}"


def _mpi_slightly_slower(times: Times) -> tuple[str, str]:
    ratios = [times.of("MPI", cell) / times.of("Sockets", cell) for cell in times.cells
              if times.of("MPI", cell) and times.of("Sockets", cell)]
    if not ratios:
        return "not measured", ""
    median = statistics.median(ratios)
    return ("yes" if 1 <= median <= SLIGHTLY else "no"), (
        f"MPI takes {median:.2f} times as long (median; {min(ratios):.2f} to {max(ratios):.2f})")


def _best_at_653(times: Times) -> tuple[str, str]:
    """For each interface, over the lengths of messages with 16 workers."""
    measured = times.names if all((16, side) in times.cells for side in MESSAGE_BYTES) else []
    best = {name: min(MESSAGE_BYTES, key=lambda side, its=name: times.of(its, (16, side))) for name in measured}
    return _counted(measured, lambda name: best[name] == 25, lambda name: f"{name}: {MESSAGE_BYTES[best[name]]} B")


def _compute_alike(times: Times) -> tuple[str, str]:
    cell = (TABLE_2_WORKERS, TABLE_2_SIDE)
    known = [value for name in times.names if (value := times.of(name, cell, "computed_s"))]
    if len(known) < 2:
        return "not measured", ""
    spread, paper = _spread(known), _spread(TABLE_2_S.values())
    return ("yes" if spread <= paper else "no"), (
        f"the longest takes {spread:.0%} more than the shortest (paper: {paper:.0%})")


def _spread(values: Iterable[float]) -> float:
    values = list(values)
    return max(values) / min(values) - 1


_STATEMENTS: tuple[tuple[str, str, Check], ...] = (
    ("Figure 3", "With 128 bytes sockets are the fastest.",
     _extreme(min, "Sockets", lambda _, side: side == 10)),
    ("Figure 3", "With 128 bytes PVM is the slowest.",
     _extreme(max, "PVM", lambda _, side: side == 10)),
    ("Figure 4", "With 653 bytes and four workers PVM is faster than MPI and libVIP.",
     _pvm_beats_two),
    ("Figures 5 and 6", "Above 653 bytes and with four workers PVM is the fastest of all.",
     _extreme(min, "PVM", lambda workers, side: workers == 4 and side > 25)),
    ("Section 4", "PVM is the fastest only above 128 bytes and with 2 to 8 workers.",
     _pvm_only_there),
    ("Section 4", "In most cases sockets are the fastest.",
     _extreme(min, "Sockets", lambda *_: True)),
    ("Section 4", f"MPI is only slightly slower than sockets (taken for: up to {SLIGHTLY} times).",
     _mpi_slightly_slower),
    ("Figure 7", "With 16 workers 653 bytes take the least time.", _best_at_653),
    ("Table 2", "Workers compute about equally long on all interfaces.", _compute_alike),
)
