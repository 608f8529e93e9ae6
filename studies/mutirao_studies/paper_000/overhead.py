"""What following the network costs a program while nothing changes: broadcasts with adaptation on and
off in turn, twice a second, each pair of jobs one right after the other. Apart from that the library is
as it comes."""

import statistics
from collections.abc import Mapping

from mutirao.base.progress import steps
from mutirao.base.tables import Table
from mutirao.base.units import counted
from mutirao.lab.lab import bring_up
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender
from mutirao.pages.html import judged
from mutirao.run.mpis import Mpi
from mutirao_studies.account import with_settings
from mutirao_studies.document import Document, Drawn, Section
from mutirao_studies.paper_000.changing_network import six_gateways
from mutirao_studies.paper_000.six_sites import ROOT
from mutirao_studies.paper_000.steady import Pace, run_steady

STUDY = "overhead"
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
    with bring_up(network) as lab, steps(pairs * len(MODES)) as progress:
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
                              "overruns": run.measurement.overruns}
                progress.advance()
            measured.append(both)
    return {**circumstances.to_dict(), "mpi_title": mpi.title, "settings": settings,
            "root": ROOT, "calls": CALLS, "every_ms": EVERY_MS,
            "bound_ms": bounds_ms[0], "bar": BAR, "pairs": measured,
            "ratio": statistics.median(map(ratio, measured))}


def ratio(pair: dict) -> float:
    return pair["auto"]["median_ms"] / pair["off"]["median_ms"]


def document(result: dict) -> Document:
    lead = (f"A program broadcasts every {result['every_ms']} ms on a network of six sites that does not"
            " change: once while mutirao follows the network, once while it does not, in pairs one right"
            " after the other.")
    pairs = list(enumerate(result["pairs"], start=1))
    tiles = [(judged(result["ratio"] <= result["bar"]), f"{result['ratio']:.4f} ×", "the time of a broadcast,"
              f" median of {counted(len(pairs), 'pair')}; at most {result['bar']:g} wanted")]
    medians = Table(f"{result['calls']} broadcasts from host {result['root']} on a network that does not change,"
                    f" {with_settings(result)}; the bound is {result['bound_ms']:.1f} ms",
                    ("median of a job, ms", "on", "off", "on / off"),
                    [(f"pair {number}", *(f"{pair[mode]['median_ms']:.2f}" for mode in MODES), f"{ratio(pair):.4f}")
                     for number, pair in pairs])
    return Document("What following the network costs", lead, result,
                    [Section("Broadcasts while nothing changes", [Drawn(medians, range(1, 3))])],
                    tiles, [with_settings(result)])

