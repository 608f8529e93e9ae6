"""What the start costs a program, and how soon its broadcasts are good; what a program without collectives notices."""

import statistics
from collections.abc import Mapping, Sequence

from mutirao.lab.lab import Lab
from mutirao.lab.named_networks import load_preset
from mutirao.run.launch import launch
from mutirao.run.mpis import Mpi
from mutirao_studies.bars.bar import AS_IT_COMES, Bar, Finding, at_most, on_each_mpi
from mutirao_studies.paper_000 import start
from mutirao_studies.paper_000.steady import PROGRAM, read_times

HOST_RANKS = (2, 8)
HOST_MS, FAR_MS, PACKETS_SHARE = 1.0, 10.0, 0.01
_HOST_PAIRS, _FAR_PAIRS = 20, 3
_MOST_SECONDS_OF_A_JOB = 120.0


def bars(_commit_hash: str) -> list[Bar]:
    return [*on_each_mpi("start", "whole programs of 3 and 30 broadcasts, and broadcasts at a pace", 5, _start),
            *on_each_mpi("unused", "MPI_Init and MPI_Finalize of programs without collectives", 5, _unused)]


def _start(mpi: Mpi) -> list[Finding]:
    return findings(start.summary(start.run_study(mpi, quick=True)))


def findings(rows: list[dict]) -> list[Finding]:
    found = []
    for row in rows:
        title = row["title"]
        if not row["every_ms"]:
            found.append(at_most(start.FIRST_BAR, f"{title}, the first x native,", row["first_ms"]["ratio"]))
            found.append(at_most(start.WHOLE_BAR, f"{title}, whole x native,", row["whole_ms"]["ratio"]))
    return found


def _unused(mpi: Mpi) -> list[Finding]:
    found = []
    for ranks in HOST_RANKS:
        pairs = [(_job(mpi, ranks, AS_IT_COMES), _job(mpi, ranks, None)) for _ in range(_HOST_PAIRS)]
        found += _ends(pairs, f"{ranks} ranks of one host", HOST_MS)
    with Lab.up(load_preset(start.NETWORK)) as lab:
        ranks = lab.network.host_count
        for title, settings in (("as it comes", AS_IT_COMES), ("enabled=off", AS_IT_COMES | {"enabled": "off"})):
            pairs = [(_job(mpi, ranks, settings, lab), _job(mpi, ranks, None, lab)) for _ in range(_FAR_PAIRS)]
            found += [*_ends(pairs, f"{start.NETWORK}, {title}", FAR_MS),
                      _packets(pairs, f"{start.NETWORK}, {title}")]
    return found


def _ends(pairs: Sequence[tuple[dict, dict]], where: str, limit_ms: float) -> list[Finding]:
    """The least of all runs: what disturbs a machine makes single ones some 10 ms longer."""
    def more(key: str) -> float:
        return min(ours[key] for ours, _ in pairs) - min(theirs[key] for _, theirs in pairs)

    return [at_most(limit_ms, f"{where}, {function} more than natively", more(key), " ms")
            for function, key in (("MPI_Init", "init_ms"), ("MPI_Finalize", "finalize_ms"))]


def _packets(pairs: Sequence[tuple[dict, dict]], where: str) -> Finding:
    """Acknowledgements vary."""
    ours, natively = (statistics.median(pair[arm]["packets"] for pair in pairs) for arm in (0, 1))
    return at_most(PACKETS_SHARE * natively, f"{where}, packets more than the {natively:.0f} natively",
                   ours - natively)


def _job(mpi: Mpi, ranks: int, settings: Mapping[str, str] | None, lab: Lab | None = None) -> dict:
    """Of a program that only begins and ends; without settings natively."""
    def packets() -> int:
        return lab.counters().packets_among(ranks) if lab else 0

    before = packets()
    finished = launch(mpi, [str(mpi.program(PROGRAM)), "--count", "0"], ranks, lab=lab, settings=settings,
                      native=settings is None, capture=True, timeout_s=_MOST_SECONDS_OF_A_JOB)
    times = read_times(finished, f"a program without collectives on {mpi.title}", 0)
    return {**times, "packets": packets() - before}
