"""Runs the program of bench/steady.c, which tells when each of its broadcasts began and how long it took, from its
first moment on or while links change.

Either the program stops before chosen calls until something has been done (`stops`), or it never
stops and says when its first call is due, so that others can work against the same clock.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutirao.base.errors import Failure
from mutirao.lab.lab import Lab
from mutirao.measure.measure import Contender, Measurement, Point, check_points, check_taken_part
from mutirao.run.processes import Finished
from mutirao_studies.account import told

PROGRAM = "steady"
_BEGAN, _STOPPED, _TIMES = '{"began_ms":', '{"stopped":', '{"bytes":'


@dataclass(frozen=True)
class Pace:
    """What the program is asked for; `stops`: what is to be done before a call, counted from 1
    after those that go `ahead` of the counted ones. Without those the first is due when MPI_Init returns."""

    root: int
    count: int
    length_bytes: int = 24
    ahead: int = 1
    every_ms: int = 0  # 0: a broadcast begins when the one before is complete everywhere
    stops: Mapping[int, Callable[[], None]] = field(default_factory=dict)

    def arguments(self, prefix: Path | None = None) -> list[str]:
        words = [PROGRAM, "--bytes", str(self.length_bytes), "--root", str(self.root), "--count", str(self.count),
                 "--ahead", str(self.ahead), "--every-ms", str(self.every_ms)]
        if self.stops:
            words += ["--stop-before", ",".join(map(str, sorted(self.stops))), "--go", str(prefix)]
        return words


@dataclass(frozen=True)
class SteadyRun:
    """Times in ms; when something was is on the machine's monotonic clock."""

    measurement: Measurement  # a point for each call
    begin_ms: tuple[float, ...]
    rank_0_begin_ms: tuple[float, ...]
    stopped_ms: float
    whole_ms: float

    @property
    def completion_ms(self) -> tuple[float, ...]:
        return tuple(point.completion_ms[0] for point in self.measurement.points)

    @property
    def building_ms(self) -> float:
        """Of mutirao, until there was a tree: in MPI_Init, and for who adapts inside the calls in the first of
        them, which goes ahead of the counted ones."""
        start, adaptation = self.measurement.report["start"], self.adaptation or {}
        builds_inside = adaptation.get("mode", "").startswith("every:")
        return start["twin_ms"] + start["waited_ms"] + sum(adaptation["check_ms"][:1] if builds_inside else [])

    @property
    def native_probes(self) -> frozenset[int]:
        """Counted calls, from 0, that went natively for comparison: the ledger paid for them, whatever changed."""
        changes = (self.measurement.communicator or {}).get("changes", ())
        numbers: set[int] = set()
        for change in changes:
            if change["to"] == "native":
                begin = change["call"] - 1 + change["lead_calls"]  # the one that goes ahead of the counted ones is 0
                numbers.update(range(begin, begin + change["probe_calls"]))
        return frozenset(numbers)

    @property
    def adaptation(self) -> dict | None:
        """What mutirao says of adapting; nothing of a run that could not."""
        return (self.measurement.communicator or {}).get("adaptation")


def run_steady(contender: Contender, pace: Pace, lab: Lab, bounds_ms: Sequence[float],
               on_begin: Callable[[float], None] | None = None,
               timeout_s: float | None = None) -> SteadyRun:
    """One job; Failure if it fails, or cannot be true by the bound of each of its calls."""
    with tempfile.TemporaryDirectory(prefix="mutirao-") as folder:
        prefix = Path(folder) / "go"

        def take(line: str) -> None:
            if line.startswith(_STOPPED):
                call = json.loads(line)["stopped"]
                pace.stops[call]()
                prefix.with_suffix(f".{call}").touch()
            elif line.startswith(_BEGAN) and on_begin:
                on_begin(json.loads(line)["began_ms"])

        times, measurement = timed(contender, pace.arguments(prefix), lab, bounds_ms, on_line=take,
                                   timeout_s=timeout_s)
    check_taken_part(measurement)
    begin_ms, rank_0_begin_ms = (tuple(times["began_ms"] + each for each in times[key])
                                 for key in ("begin_ms", "rank_0_begin_ms"))
    return SteadyRun(measurement, begin_ms, rank_0_begin_ms, times["stopped_ms"], times["whole_ms"])


def timed(contender: Contender, argv: Sequence[str], lab: Lab, bounds_ms: Sequence[float],
          **options: Any) -> tuple[dict, Measurement]:
    """One job of the program on all hosts: what it told, and a point for each broadcast, which has a bound each."""
    before = lab.counters()
    finished = contender.launch([str(contender.mpi.program(argv[0])), *argv[1:]], lab.network.host_count, lab=lab,
                                **options)
    after = lab.counters()
    times = read_times(finished, contender.title, len(bounds_ms))
    points = tuple(Point(times["bytes"], times["root"], 1, completion, (completion,), bound)
                   for completion, bound in zip(times["completion_ms"], bounds_ms, strict=True))
    packets, overruns = check_points(contender.title, points, lab.network.host_count, before, after)
    return times, Measurement(contender, points, finished.report, finished.seconds, packets, overruns)


def read_times(finished: Finished, what: str, count: int) -> dict:
    times = told(finished, what, _TIMES)
    if len(times.get("completion_ms", ())) == len(times.get("begin_ms", ())) == count:
        return times
    raise Failure(f"{what} did not tell its times")
