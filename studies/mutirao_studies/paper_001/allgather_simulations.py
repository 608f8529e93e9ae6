"""The simulated part of `mutirao study allgather`: each algorithm in a process of its own, some side by side, and
mutirao's choice by what they took."""

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass

from mutirao.base.errors import Failure
from mutirao.base.progress import Steps
from mutirao.base.units import counted, size
from mutirao_studies.account import LeftOut
from mutirao_studies.paper_001 import allgather_model
from mutirao_studies.paper_001.paper_001 import ALGORITHMS, Algorithm, runs_with
from mutirao_studies.paper_001.side_by_side import side_by_side

_NATIVE = "native"
_RULE = "ompi"  # as SMPI calls Open MPI's
# For the time that is said beforehand, as seen on two processors.
_SECONDS_OF_A_RANK = 2e-4
_SECONDS_OF_A_BYTE = 1e-9


@dataclass(frozen=True)
class _Simulation:
    """One algorithm with each length."""

    ranks: int
    forced: Algorithm | None = None  # of Open MPI's
    candidate: str = _NATIVE  # of the catalogue; native, if none is forced: by Open MPI's rule

    def __str__(self) -> str:
        what = self.forced.name if self.forced else (
            "the rule" if self.candidate == _NATIVE else self.candidate)
        return f"{self.ranks} simulated ranks, {what}"

    def run(self, sizes_bytes: Sequence[int], mark: dict[str, str]) -> list[dict]:
        return allgather_model.simulate(
            self.ranks, self.forced.smpi if self.forced else _RULE, self.candidate, sizes_bytes, mark)

    def memory_bytes(self, length_bytes: int) -> int:
        name = self.forced.smpi if self.forced else self.candidate
        return allgather_model.memory_bytes(self.ranks, length_bytes, name)


class Simulations:
    def __init__(self, ranks: Sequence[int], sizes_bytes: Sequence[int]):
        self._ranks, self._sizes_bytes = ranks, sizes_bytes
        candidates = [_NATIVE, *allgather_model.catalogue()]
        self._all = [each for count in sorted(ranks, reverse=True) for each in (
            *(_Simulation(count, forced) for forced in ALGORITHMS if runs_with(forced, count)),
            *(_Simulation(count, candidate=candidate) for candidate in candidates))]
        self._at_once = len(os.sched_getaffinity(0))

    @property
    def expected_s(self) -> list[float]:
        """Of each simulation, as some run side by side."""
        return [sum(one.ranks ** 2 * (_SECONDS_OF_A_RANK + length * _SECONDS_OF_A_BYTE)
                    for length in self._sizes_bytes) / self._at_once for one in self._all]

    def run(self, progress: Steps, left_out: LeftOut) -> list[dict]:
        """A row for each number of ranks and length of which all is there that tables need."""
        cells = {(ranks, length): {"ranks": ranks, "length_bytes": length, "forced_us": {},
                                   "selector_us": None, "catalogue_us": {}, "chosen": None,
                                   "reason": None}
                 for ranks in self._ranks for length in self._sizes_bytes}
        times_us: dict[tuple[int, int], dict[str, list[float]]] = {key: {} for key in cells}
        works = [functools.partial(each.run, self._sizes_bytes) for each in self._all]
        needed_bytes = [each.memory_bytes(max(self._sizes_bytes)) for each in self._all]
        progress.say(f"at most {counted(self._at_once, 'simulation')} at a time")
        outcomes = {}
        with side_by_side(works, self._at_once, needed_bytes, allgather_model.available_bytes()) as ended:
            for number, outcomes[number] in ended:
                progress.begin(str(self._all[number]))
                progress.advance()
        for number, simulation in enumerate(self._all):
            rows = []
            with left_out.tried(str(simulation), progress):
                rows = outcomes[number].result()
            for row in rows:
                key = simulation.ranks, row["bytes"]
                _take(row, simulation, cells[key], times_us[key])
        for key, cell in cells.items():
            if times_us[key]:
                ranks, length = key
                with left_out.tried(f"{ranks} simulated ranks, the choice for {size(length)}", progress):
                    cell |= allgather_model.choice(length, times_us[key])
        return [cell for cell in cells.values() if cell["chosen"] and cell["forced_us"]]


def _take(row: dict, simulation: _Simulation, cell: dict, times_us: dict[str, list[float]]) -> None:
    if not row["right"]:
        raise Failure(f"{simulation} brought wrong bytes with {size(row['bytes'])}")
    slowest_us = max(row["rank_us"])
    if simulation.forced:
        cell["forced_us"][simulation.forced.name] = slowest_us
        return
    times_us[simulation.candidate] = row["rank_us"]
    if simulation.candidate == _NATIVE:
        cell["selector_us"] = slowest_us
    else:
        cell["catalogue_us"][simulation.candidate] = slowest_us
