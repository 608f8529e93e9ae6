"""What following the network costs a program while nothing changes: broadcasts with adaptation on and
off in turn, twice a second, each pair of jobs one right after the other. Apart from that the library is
as it comes."""

import statistics
import textwrap
from collections.abc import Mapping

from mutirao.base.output import working
from mutirao.base.progress import steps
from mutirao.base.tables import Table
from mutirao.lab.lab import Lab
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.measure import Contender
from mutirao.run.mpis import Mpi
from mutirao_studies.account import with_settings
from mutirao_studies.paper_000.changing_network import six_gateways
from mutirao_studies.paper_000.steady import Pace, run_steady

STUDY = "overhead"
ROOT = 12
EVERY_MS = 500
CALLS = 40
PAIRS, QUICK_PAIRS = 5, 1
BAR = 1.01
MODES = ("auto", "off")
_MOST_SECONDS_OF_A_JOB = 300.0


def run_study(mpi: Mpi, quick: bool = False, settings: Mapping[str, str] | None = None) -> dict:
    pairs = QUICK_PAIRS if quick else PAIRS
    settings = dict(settings or {})
    circumstances = Circumstances(STUDY, quick, [mpi.name])
    network = six_gateways()
    bounds_ms = [network.bound_from(ROOT) / 1000] * CALLS
    measured = []
    with working(f"bringing up {network.host_count} hosts"):
        lab = Lab.up(network)
    with lab, steps(pairs * len(MODES)) as progress:
        for pair in range(pairs):
            both = {}
            for mode in MODES if pair % 2 == 0 else MODES[::-1]:
                progress.begin(f"pair {pair + 1}, adaptation {mode}")
                asked = {"start": "soon", **settings, "adaptation": mode}
                run = run_steady(Contender(f"adaptation {mode}", mpi, asked),
                                 Pace(ROOT, CALLS, every_ms=EVERY_MS), lab, bounds_ms,
                                 timeout_s=_MOST_SECONDS_OF_A_JOB)
                both[mode] = {"completion_ms": list(run.completion_ms),
                              "median_ms": statistics.median(run.completion_ms),
                              "adaptation": run.adaptation, "overruns": run.measurement.overruns}
                progress.advance()
            measured.append(both)
    return {**circumstances.to_dict(), "mpi_title": mpi.title, "settings": settings,
            "root": ROOT, "calls": CALLS, "every_ms": EVERY_MS,
            "bound_ms": bounds_ms[0], "bar": BAR, "pairs": measured,
            "ratio": median_ratio(measured)}


def ratio(pair: dict) -> float:
    return pair["auto"]["median_ms"] / pair["off"]["median_ms"]


def median_ratio(pairs: list[dict]) -> float:
    return statistics.median(map(ratio, pairs))


def pairs_table(result: dict) -> Table:
    rows = [(f"pair {number}", *(f"{pair[mode]['median_ms']:.2f}" for mode in MODES),
             f"{ratio(pair):.4f}") for number, pair in enumerate(result["pairs"], start=1)]
    return Table(f"{result['calls']} broadcasts from host {result['root']} on a network that does not"
                 f" change,\n{with_settings(result)}; the bound is {result['bound_ms']:.1f} ms",
                 ("median of a job, ms", "on", "off", "on / off"), rows)


def print_tables(result: dict) -> None:
    print(pairs_table(result))
    print(f"median of the ratios: {result['ratio']:.4f} (limit: {result['bar']:g})")
    for line in busy_remarks(result):
        print(textwrap.fill(line, 80))
