"""Two ranks of one host, where calls take less than a microsecond: against the MPI library's own functions, which
take turns with ours in the same job."""

import statistics
from collections.abc import Sequence

from mutirao.base.units import size
from mutirao.measure.measure import Contender, Point, Workload, measure, tried_twice
from mutirao.run.mpis import Mpi
from mutirao_studies.bars.bar import AS_IT_COMES, Bar, Finding, at_most, default, native, on_each_mpi

COLLECTIVES = ("broadcast", "reduce", "allreduce", "allgather", "alltoall")
LENGTHS_BYTES = (8, 4096, 65536, 1 << 20)
RANKS = 2
MEAN, NEAR, NEAR_NS, AT_FIRST, NATIVE_NS = 0.80, 1.03, 40.0, 1.05, 20.0
_SETTLE_MS, _FIRST_MS, _REPEAT, _ROUNDS = 3000, 50, 50, 3
_MOST_SECONDS_OF_A_JOB = 120.0


def bars(_commit_hash: str) -> list[Bar]:
    return [*on_each_mpi("host", "twenty calls of two ranks on one host, settled", 4, _settled),
            *on_each_mpi("host-first", "the same calls' first 50 ms", 1, _first),
            *on_each_mpi("host-native", "what a choice of native costs a call of 8 B", 2, _native_choice)]


def _points(contender: Contender, settle_ms: int, beside_native: bool, length_bytes: int) -> Point:
    """A job of that class alone."""
    workload = Workload([length_bytes], [0], (0,), _REPEAT, settle_ms=settle_ms, beside_native=beside_native)
    [point] = tried_twice(lambda: measure(contender, [workload], RANKS, timeout_s=_MOST_SECONDS_OF_A_JOB)).points
    return point


def _settled(mpi: Mpi) -> list[Finding]:
    cells = {(collective, length): [_points(default(mpi, collective), _SETTLE_MS, True, length)
                                    for _ in range(_ROUNDS)]
             for collective in COLLECTIVES for length in LENGTHS_BYTES}
    return findings(cells)


def findings(cells: dict[tuple[str, int], Sequence[Point]]) -> list[Finding]:
    ratios = {cell: statistics.median(point.call_ms / point.native_call_ms for point in points)
              for cell, points in cells.items()}
    worse_ns = {cell: _more_ns(points) for cell, points in cells.items()}
    beyond = [cell for cell, ratio in ratios.items() if ratio > NEAR and worse_ns[cell] > NEAR_NS]
    worst = max(ratios, key=lambda cell: ratios[cell])
    return [at_most(MEAN, "x native, geometric mean", statistics.geometric_mean(ratios.values())),
            Finding(f"cells above {NEAR:g} x native and +{NEAR_NS:g} ns: none", f"{len(beyond)} of {len(ratios)};"
                    f" largest {ratios[worst]:.2f} x, {worse_ns[worst]:+.0f} ns ({_title(worst)})", not beyond,
                    len(beyond))]


def _more_ns(points: Sequence[Point]) -> float:
    return statistics.median(point.call_ms - point.native_call_ms for point in points) * 1e6


def _title(cell: tuple[str, int]) -> str:
    return f"{cell[0]} {size(cell[1])}"


def _first(mpi: Mpi) -> list[Finding]:
    ratios = {(collective, length): _first_ratio(mpi, collective, length)
              for collective in COLLECTIVES for length in LENGTHS_BYTES}
    worst = max(ratios, key=lambda cell: ratios[cell])
    return [at_most(AT_FIRST, "x native, geometric mean", statistics.geometric_mean(ratios.values()),
                    where=f"largest {ratios[worst]:.2f}, {_title(worst)}")]


def _first_ratio(mpi: Mpi, collective: str, length_bytes: int) -> float:
    """Of the quickest jobs: what others do on the machine makes some slower, what mutirao tries makes all slower."""
    ours, theirs = (min(_first_call_ms(_points(make(mpi, collective), _FIRST_MS, False, length_bytes))
                        for _ in range(_ROUNDS)) for make in (default, native))
    return ours / theirs


def _first_call_ms(point: Point) -> float:
    """The mean of the calls after the first, in which ranks connect."""
    return sum(took_ms for _, took_ms in point.settling) / sum(calls for calls, _ in point.settling)


def _native_choice(mpi: Mpi) -> list[Finding]:
    found = []
    for collective in COLLECTIVES:
        forced = Contender("native choice", mpi, {**AS_IT_COMES, collective: "native"}, collective)
        points = [_points(forced, _SETTLE_MS, True, 8) for _ in range(_ROUNDS)]
        found.append(at_most(NATIVE_NS, f"{collective} 8 B, more than native,", _more_ns(points), " ns"))
    return found
