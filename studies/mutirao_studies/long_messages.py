"""Long collectives between sites, natively and with mutirao, against the physical bound: in a row, and after pauses in
which TCP's windows close, with the congestion control that a kernel comes with and with BBR.

Each collective has a job of its own, in which all lengths settle in a row before anything is measured: as in a program
that runs long, and with no earlier job known.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mutirao.base.progress import Steps, steps
from mutirao.base.tables import Table
from mutirao.base.units import counted, ms, size
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.lab.lab import Lab, bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Measurement, Workload, measure
from mutirao.run.mpis import Mpi, find_mpi
from mutirao_studies.account import LeftOut, check_known, command_of
from mutirao_studies.bars import bar
from mutirao_studies.document import Document, Lines, Section

STUDY = "long"
NETWORK = "six-sites"
NAMES = ("allreduce", "allgather", "reduce_scatter_block", "broadcast", "reduce", "gather", "scatter", "alltoall",
         "scan", "exscan")
LENGTHS_BYTES, QUICK_LENGTHS_BYTES = (32 << 10, 256 << 10, 1 << 20, 16 << 20), (1 << 20,)  # of the whole message
ROOT = 12  # or the first host of a smaller network
CONTROLS = {"plain": "cubic", "bbr": "BBR"}
NATIVE, OURS = "native", "mutirao"
_SETTLE_CALLS = 40
_MOST_SECONDS_OF_A_JOB = 3600.0


@dataclass(frozen=True)
class Regime:
    title: str
    pause_ms: int
    repeat: int


REGIMES = (Regime("in a row", 0, 5), Regime("after 1.5 s", 1500, 5), Regime("after 10 s", 10_000, 3))


def run_study(mpi_names: Sequence[str], quick: bool = False, only: Sequence[str] = (),
              network: HostNetwork | None = None) -> dict:
    check_known("collective", only, NAMES)
    network = network or load_preset(NETWORK)
    lengths = QUICK_LENGTHS_BYTES if quick else LENGTHS_BYTES
    regimes = [replace(each, repeat=1) for each in REGIMES[:2]] if quick else REGIMES
    mpis = [find_mpi(name) for name in mpi_names]
    names = [name for name in NAMES if not only or name in only]
    circumstances = Circumstances(STUDY, quick, mpi_names)
    left_out, rows = LeftOut(), []
    jobs = [(mpi, name) for mpi in mpis for name in names]
    with steps(2 * len(CONTROLS) * len(jobs)) as progress:
        for tcp, control in controls(left_out):
            with bring_up(network, tcp) as lab:
                for mpi, name in jobs:
                    with left_out.tried(f"{name} on {mpi.title} over {control}"):
                        rows += [{"tcp": control, **row}
                                 for row in _rows(name, mpi, lab, lengths, regimes, progress)]
    return {**circumstances.to_dict(), "network": network.name, "only": list(only), "hosts": network.host_count,
            "rows": rows, "left_out": left_out.rows}


def controls(left_out: LeftOut) -> Iterator[tuple[str, str]]:
    """How the lab sets up TCP, and the congestion control, where this kernel has it."""
    for tcp, control in CONTROLS.items():
        if kernel_has(control):
            yield tcp, control
        else:
            left_out.add(control, "this kernel does not have it")


def kernel_has(control: str) -> bool:
    return control.lower() in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def block_bytes(name: str, length_bytes: int, ranks: int) -> int:
    """What a call is asked with, of a message that is so long as a whole."""
    blocks = ranks * ranks if name == "alltoall" else ranks if COLLECTIVES[name].in_blocks else 1
    return max(length_bytes // blocks // 8 * 8, 8)


def _measured(name: str, mpi: Mpi, lab: Lab, native: bool, workloads: Sequence[Workload]) -> Measurement:
    contender = bar.native(mpi, name) if native else bar.set_up(mpi, name)
    return measure(contender, workloads, lab.network.host_count, lab, timeout_s=_MOST_SECONDS_OF_A_JOB)


def _workloads(name: str, ranks: int, lengths: Sequence[int], regimes: Sequence[Regime],
               settle: int) -> Iterator[Workload]:
    root = ROOT if ROOT < ranks else 0
    for length in lengths:
        for number, regime in enumerate(regimes):
            yield Workload([block_bytes(name, length, ranks)], [root if COLLECTIVES[name].rooted else 0],
                           repeat=regime.repeat, pause_ms=regime.pause_ms, poll_us=500 if regime.pause_ms else 0,
                           settle_calls=settle if number == 0 else 0)


def _rows(name: str, mpi: Mpi, lab: Lab, lengths: Sequence[int], regimes: Sequence[Regime],
          progress: Steps) -> list[dict]:
    """A row for each length."""
    both = {}
    for arm in (NATIVE, OURS):
        progress.begin(f"{name}, {mpi.title}, {arm}")
        settle = 0 if arm == NATIVE else _SETTLE_CALLS
        both[arm] = _measured(name, mpi, lab, arm == NATIVE,
                              list(_workloads(name, lab.network.host_count, lengths, regimes, settle)))
        progress.advance()
    rows = []
    for number, length in enumerate(lengths):
        points = {arm: both[arm].points[number * len(regimes):][:len(regimes)] for arm in both}
        [first, *_] = points[OURS]
        rows.append({"collective": name, "mpi": mpi.title, "length_bytes": length, "bound_ms": first.bound_ms,
                     "ran": both[OURS].chosen(first.length_bytes, first.root),
                     "first_ms": {arm: points[arm][0].first_ms for arm in both} if number == 0 else None,
                     "ms": {regime.title: {arm: list(points[arm][at].completion_ms) for arm in both}
                            for at, regime in enumerate(regimes)}})
    return rows


def tables(result: dict) -> list[Table]:
    groups = dict.fromkeys((row["mpi"], row["tcp"]) for row in result["rows"])
    shown = []
    for mpi, tcp in groups:
        rows = [row for row in result["rows"] if (row["mpi"], row["tcp"]) == (mpi, tcp)]
        regimes = list(rows[0]["ms"])
        columns = ["collective", "whole", "bound, ms",
                   *(f"{each}: {arm}" for each in regimes for arm in (NATIVE, OURS)), "ran"]
        cells = [[row["collective"], size(row["length_bytes"]), ms(row["bound_ms"]),
                  *(f"{times_bound(row, each, arm):.2f}" for each in regimes for arm in (NATIVE, OURS)),
                  row["ran"] or ""]
                 for row in rows]
        shown.append(Table(f"{mpi}, {tcp}, {result['hosts']} hosts of {result['network']}: times the bound", columns,
                           cells))
    return shown


def times_bound(row: dict, regime: str, arm: str) -> float:
    return statistics.median(row["ms"][regime][arm]) / row["bound_ms"]


def document(result: dict) -> Document:
    lead = ("Long collectives between sites, natively and with mutirao as it comes, in a row and after pauses, in which"
            " windows close. Times are multiples of the physical bound, medians.")
    ratios = [times_bound(row, each, NATIVE) / times_bound(row, each, OURS)
              for row in result["rows"] for each in row["ms"]]
    tiles = [("tile", f"{statistics.median(ratios):.1f} ×", "as fast as natively, in the median of"
              f" {counted(len(ratios), 'cell')}")] if ratios else []
    firsts = [f"{row['collective']} of {size(row['length_bytes'])}, {row['mpi']}, {row['tcp']}: the job's first call,"
              f" in which ranks connect, took {ms(row['first_ms'][NATIVE])} ms natively, {ms(row['first_ms'][OURS])} with"
              " mutirao" for row in result["rows"] if row["first_ms"]]
    return Document("Long messages", lead, result, [
        Section("Times the bound", tables(result)), Section("The first call of a job", [Lines(firsts)])],
        tiles, commands=command_of(result, f"--lab {result['network']}"))
