"""Long collectives between sites, natively and with mutirao, against the physical bound: in a row, and after pauses in
which TCP's windows close, with the congestion control that a kernel comes with and with BBR.

Each collective has a job of its own, in which all lengths settle in a row before anything is measured: as in a program
that runs long, and with no earlier job known.
"""

import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mutirao.base.progress import Steps, steps
from mutirao.base.tables import Table
from mutirao.base.units import counted, ms, ratio, size
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.lab.lab import TCP_PROFILES, Lab, bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender, Measurement, Workload, measure
from mutirao.run.mpis import Mpi, find_mpi
from mutirao_studies.account import LeftOut, check_known, command_of
from mutirao_studies.bars import bar
from mutirao_studies.document import Document, Lines, Section
from mutirao_studies.paper_000.six_sites import NETWORK, ROOT
from mutirao_studies.windows import windows_bound_us

STUDY = "long"
NAMES = ("allreduce", "allgather", "reduce_scatter_block", "broadcast", "reduce", "gather", "scatter", "alltoall",
         "scan", "exscan")
LENGTHS_BYTES, QUICK_LENGTHS_BYTES = (32 << 10, 256 << 10, 1 << 20, 16 << 20), (1 << 20,)  # of the whole message
# How the lab sets TCP up, and what that is called; without being asked for, only what a kernel comes with and BBR.
CONTROLS = {"plain": "cubic", "bbr": "BBR"}
_TITLES = {**CONTROLS, "tuned": "cubic, tuned"}
OURS = "mutirao"
_HOW = {NATIVE: "natively", OURS: "with mutirao"}
_SETTLE_CALLS, _SETTLED_CALLS = 40, 4  # once the network is known, only probes are left
_MOST_SECONDS_OF_A_JOB = 3600.0
_OWN_TIME_FROM_BYTES = 1 << 20  # shorter ones are held against the bound alone


@dataclass(frozen=True)
class Regime:
    title: str
    pause_ms: int
    repeat: int


@dataclass(frozen=True)
class Plan:
    """What is to be measured; None: all that the study has."""

    lengths_bytes: Sequence[int] | None = None
    tcp: Sequence[str] = tuple(CONTROLS)
    ranks: int | None = None  # None: one a host
    settled: bool = False  # once the network is known, instead of as mutirao comes
    native: bool = True  # natively, too

    def __post_init__(self) -> None:
        check_known("TCP", self.tcp, TCP_PROFILES)

    @property
    def arms(self) -> tuple[str, ...]:
        return (NATIVE, OURS) if self.native else (OURS,)

    @property
    def words(self) -> list[str]:
        """As they are typed."""
        return [*([f"--bytes {','.join(size(each).replace(' ', '') for each in self.lengths_bytes)}"]
                  if self.lengths_bytes else []),
                *([f"--tcp {','.join(self.tcp)}"] if self.tcp != tuple(CONTROLS) else []),
                *([f"--ranks {self.ranks}"] if self.ranks else []),
                *(["--settled"] if self.settled else []), *([] if self.native else ["--no-native"])]


REGIMES = (Regime("in a row", 0, 5), Regime("after 1.5 s", 1500, 5), Regime("after 10 s", 10_000, 3))


def run_study(mpi_names: Sequence[str], quick: bool = False, only: Sequence[str] = (),
              network: HostNetwork | None = None, plan: Plan | None = None) -> dict:
    check_known("collective", only, NAMES)
    network = network or load_preset(NETWORK)
    asked = plan or Plan()
    plan = replace(asked, lengths_bytes=asked.lengths_bytes or (QUICK_LENGTHS_BYTES if quick else LENGTHS_BYTES),
                   ranks=asked.ranks or network.host_count)
    regimes = [replace(each, repeat=1) for each in REGIMES[:2]] if quick else REGIMES
    mpis = [find_mpi(name) for name in mpi_names]
    names = [name for name in NAMES if not only or name in only]
    circumstances = Circumstances(STUDY, quick, mpi_names)
    left_out, rows = LeftOut(), []
    jobs = [(mpi, name) for mpi in mpis for name in names]
    with steps(len(plan.arms) * len(plan.tcp) * len(jobs)) as progress:
        own_ms = _own_times_ms(jobs, network, plan, left_out)
        for tcp, control in controls(left_out, plan.tcp):
            with bring_up(network, tcp) as lab:
                for mpi, name in jobs:
                    with left_out.tried(f"{name} on {mpi.title} over {control}"):
                        rows += [{"tcp": control, "own_ms": own_ms.get((mpi, name, row["length_bytes"]), 0.0),
                                  "windows_ms": _windows_ms(network, plan.ranks, name, row["length_bytes"], tcp), **row}
                                 for row in _rows(name, mpi, lab, plan, regimes, progress)]
    return {**circumstances.to_dict(), "network": network.name, "only": list(only), "hosts": network.host_count,
            "ranks": plan.ranks, "asked": asked.words, "rows": rows, "left_out": left_out.rows}


def controls(left_out: LeftOut, asked: Collection[str] = tuple(CONTROLS)) -> Iterator[tuple[str, str]]:
    """How the lab sets up TCP, and what that is called, where this kernel has it."""
    for tcp in asked:
        title = _TITLES[tcp]
        if kernel_has(title.partition(",")[0]):
            yield tcp, title
        else:
            left_out.add(title, "this kernel does not have it")


def kernel_has(control: str) -> bool:
    return control.lower() in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def block_bytes(name: str, length_bytes: int, ranks: int) -> int:
    """What a call is asked with, of a message that is so long as a whole."""
    blocks = ranks * ranks if name == "alltoall" else ranks if COLLECTIVES[name].in_blocks else 1
    return max(length_bytes // blocks // 8 * 8, 8)


def _windows_ms(network: HostNetwork, ranks: int, name: str, length_bytes: int, tcp: str) -> float:
    """0: nothing is known of it."""
    return windows_bound_us(network, ranks, name, length_bytes, _root(name, ranks)) / 1000 if tcp == "plain" else 0.0


def _root(name: str, ranks: int) -> int:
    """Where there is one that of paper 000, or the first of fewer ranks."""
    return ROOT if ROOT < ranks and COLLECTIVES[name].rooted else 0


def _own_times_ms(jobs: Sequence[tuple[Mpi, str]], network: HostNetwork, plan: Plan,
                  left_out: LeftOut) -> dict[tuple[Mpi, str, int], float]:
    """Of what is very long, the fastest call without any delays, however it ran: so long do the lab's processors take
    to carry its packets."""
    lengths = [length for length in plan.lengths_bytes if length > _OWN_TIME_FROM_BYTES]
    if not lengths:
        return {}
    near = replace(network, latency_us=[[0.0] * network.host_count for _ in network.hosts])
    fastest = {}
    with bring_up(near) as lab:
        for mpi, name in jobs:
            with left_out.tried(f"{name} on {mpi.title} without delays"):
                found = [measure(_contender(arm, mpi, name, settled=True),
                                 list(_workloads(name, plan.ranks, lengths, REGIMES[:1], _SETTLED_CALLS)), plan.ranks,
                                 lab, timeout_s=_MOST_SECONDS_OF_A_JOB).points for arm in _HOW]
                for length, *points in zip(lengths, *found, strict=True):
                    fastest[mpi, name, length] = min(min(point.completion_ms) for point in points)
    return fastest


def _contender(arm: str, mpi: Mpi, name: str, settled: bool) -> Contender:
    if arm == NATIVE:
        return bar.native(mpi, name)
    return Contender.named(OWN_CHOICE, mpi, {}, name) if settled else bar.set_up(mpi, name)


def _workloads(name: str, ranks: int, lengths: Sequence[int], regimes: Sequence[Regime],
               settle: int) -> Iterator[Workload]:
    for length in lengths:
        for number, regime in enumerate(regimes):
            yield Workload([block_bytes(name, length, ranks)], [_root(name, ranks)],
                           repeat=regime.repeat, pause_ms=regime.pause_ms, poll_us=500 if regime.pause_ms else 0,
                           settle_calls=settle if number == 0 else 0)


def _rows(name: str, mpi: Mpi, lab: Lab, plan: Plan, regimes: Sequence[Regime], progress: Steps) -> list[dict]:
    """A row for each length."""
    jobs = {}
    for arm in plan.arms:
        progress.begin(f"{name}, {mpi.title}, {arm}")
        settle = 0 if arm == NATIVE else _SETTLED_CALLS if plan.settled else _SETTLE_CALLS
        jobs[arm] = measure(_contender(arm, mpi, name, plan.settled),
                            list(_workloads(name, plan.ranks, plan.lengths_bytes, regimes, settle)), plan.ranks, lab,
                            timeout_s=_MOST_SECONDS_OF_A_JOB)
        progress.advance()
    return [_row(name, mpi, jobs, regimes, number, length) for number, length in enumerate(plan.lengths_bytes)]


def _row(name: str, mpi: Mpi, jobs: Mapping[str, Measurement], regimes: Sequence[Regime], number: int,
         length_bytes: int) -> dict:
    points = {arm: job.points[number * len(regimes):][:len(regimes)] for arm, job in jobs.items()}
    [first, *_] = points[OURS]
    ran = jobs[OURS].chosen(first.length_bytes, first.root)
    return {"collective": name, "mpi": mpi.title, "length_bytes": length_bytes, "bound_ms": first.bound_ms, "ran": ran,
            "predicted_ms": jobs[OURS].predicted_ms(first.length_bytes, first.root).get(ran or ""),
            "first_ms": {arm: points[arm][0].first_ms for arm in jobs} if number == 0 else None,
            "ms": {regime.title: {arm: list(points[arm][at].completion_ms) for arm in jobs}
                   for at, regime in enumerate(regimes)}}


def tables(result: dict) -> list[Table]:
    groups = dict.fromkeys((row["mpi"], row["tcp"]) for row in result["rows"])
    shown = []
    for mpi, tcp in groups:
        rows = [row for row in result["rows"] if (row["mpi"], row["tcp"]) == (mpi, tcp)]
        cells_of = [(regime, arm) for regime, arms in rows[0]["ms"].items() for arm in arms]
        has_own, has_windows = (any(row[each] for row in rows) for each in ("own_ms", "windows_ms"))
        columns = ["collective", "whole", "bound, ms", *["the lab's own"] * has_own, *["windows allow"] * has_windows,
                   *(f"{regime}: {arm}" for regime, arm in cells_of), "predicted", "ran"]
        cells = [[row["collective"], size(row["length_bytes"]), ms(row["bound_ms"]), *[ms(row["own_ms"] or None)] * has_own,
                  *[_times_limit(row, "windows_ms")] * has_windows, *(ratio(times_bound(row, *each)) for each in cells_of),
                  _times_limit(row, "predicted_ms"), row["ran"] or ""] for row in rows]
        shown.append(Table(f"{mpi}, {tcp}, {counted(result['ranks'], 'rank')} on {result['hosts']} hosts of"
                           f" {result['network']}: times the bound", columns, cells))
    return shown


def times_bound(row: dict, regime: str, arm: str) -> float:
    return statistics.median(row["ms"][regime][arm]) / _limit_ms(row)


def _times_limit(row: dict, time_ms: str) -> str:
    return ratio(row[time_ms] / _limit_ms(row) if row[time_ms] else None)


def _limit_ms(row: dict) -> float:
    return row["bound_ms"] + row["own_ms"]


def document(result: dict) -> Document:
    ours = "once it knows the network" if "--settled" in result["asked"] else "as it comes"
    lead = (f"Long collectives between sites, natively and with mutirao {ours}, in a row and after pauses, in which"
            " windows close. Times are multiples of the physical bound, of what is longer than 1 MiB with the lab's own"
            " time added (without delays, the fastest), medians; predicted is what mutirao expected, after a long pause,"
            " of what ran, and less than what windows allow no algorithm takes then.")
    ratios = [times_bound(row, each, NATIVE) / times_bound(row, each, OURS)
              for row in result["rows"] for each, arms in row["ms"].items() if NATIVE in arms]
    tiles = [("tile", f"{statistics.median(ratios):.1f} ×", "as fast as natively, in the median of"
              f" {counted(len(ratios), 'cell')}")] if ratios else []
    firsts = [f"{row['collective']} of {size(row['length_bytes'])}, {row['mpi']}, {row['tcp']}: the job's first call,"
              " in which ranks connect, took " + ", ".join(f"{ms(took)} ms {_HOW[arm]}"
                                                           for arm, took in row["first_ms"].items())
              for row in result["rows"] if row["first_ms"]]
    return Document("Long messages", lead, result, [
        Section("Times the bound", tables(result)), Section("The first call of a job", [Lines(firsts)])],
        tiles, commands=command_of(result, f"--lab {result['network']}", *result["asked"]))
