"""What mutirao's start costs a program, and how soon its broadcasts are good.

The program of bench/steady.c runs natively and with mutirao, in pairs one right after the other:
broadcasts one after the other, a few and some more, as users get it; and broadcasts at a steady pace
from the first moment on, as a program that computes in between, with what is needed set up at once
(start=soon).

Jobs are timed whole, from their launch to their end. The launcher stands beside the first host, and all
are behind the lab's delays from the beginning.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from mutirao.base.progress import Steps, steps
from mutirao.base.tables import Table
from mutirao.base.units import counted
from mutirao.lab.lab import Lab, bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender, Measurement, check_handled
from mutirao.pages.html import judged
from mutirao.run.mpis import Mpi
from mutirao_studies.account import command_of, with_settings
from mutirao_studies.document import Document, Drawn, Section
from mutirao_studies.paper_000.six_sites import LENGTH_BYTES, NETWORK, ROOT
from mutirao_studies.paper_000.steady import Pace, timed

STUDY = "start"
EVERY_MS = 333
PACED_CALLS = 150
TRIALS, QUICK_TRIALS = 5, 1
GOOD = 1.06  # times the bound
IN_A_ROW = 10  # at the end, or it was never good
NATIVE, OURS = "native", "mutirao"
FIRST_BAR, WHOLE_BAR = 1.02, 1.02  # times native
_MOST_SECONDS_OF_A_JOB = 300.0


@dataclass(frozen=True)
class Situation:
    title: str
    count: int
    every_ms: int = 0  # 0: a broadcast begins when the one before is complete everywhere
    start: str = "beside"  # as the setting; soon: what is needed is set up at once


SITUATIONS = (
    Situation("3 broadcasts", 3),
    Situation("30 broadcasts", 30),
    Situation("at a pace", PACED_CALLS, EVERY_MS, "soon"),
)


def run_study(mpi: Mpi, quick: bool = False, settings: Mapping[str, str] | None = None,
              network: HostNetwork | None = None) -> dict:
    trials = QUICK_TRIALS if quick else TRIALS
    network = network or load_preset(NETWORK)
    contenders = {NATIVE: Contender(NATIVE, mpi),
                  OURS: Contender(OURS, mpi, dict(settings or {}))}
    circumstances = Circumstances(STUDY, quick, [mpi.name])
    measured = []
    with bring_up(network) as lab, steps(len(SITUATIONS) * trials * len(contenders)) as progress:
        for situation in SITUATIONS:
            pairs = [_pair(lab, contenders, situation, number, progress) for number in range(trials)]
            measured.append({**asdict(situation), "pairs": pairs})
    root = root_of(network)
    return {**circumstances.to_dict(), "mpi_title": mpi.title, "settings": dict(settings or {}),
            "network": network.name, "root": root, "length_bytes": LENGTH_BYTES,
            "bound_ms": network.bound_from(root) / 1000, "good": GOOD, "trials": trials,
            "situations": measured}


def root_of(network: HostNetwork) -> int:
    """The paper's, or the first host of a smaller network."""
    return ROOT if ROOT < network.host_count else 0


def _pair(lab: Lab, contenders: Mapping[str, Contender], situation: Situation, number: int, progress: Steps) -> dict:
    """Natively first in every other pair."""
    both = {}
    for name in contenders if number % 2 == 0 else reversed(contenders):
        progress.begin(f"{situation.title}, pair {number + 1}, {name}")
        both[name] = run_job(contenders[name], situation, lab)
        progress.advance()
    return both


def run_job(contender: Contender, situation: Situation, lab: Lab) -> dict:
    """One program's times. Failure if it fails, cannot be true, or was never mutirao's to handle."""
    root = root_of(lab.network)
    pace = Pace(root, situation.count, LENGTH_BYTES, ahead=0, every_ms=situation.every_ms)
    if not contender.native:
        contender = replace(contender, settings={"start": situation.start, **contender.settings})
    bounds_ms = [lab.network.bound_from(root) / 1000] * situation.count
    times, measurement = timed(contender, pace.arguments(), lab, bounds_ms, timeout_s=_MOST_SECONDS_OF_A_JOB)
    check_handled(measurement)
    return {**times, "seconds": round(measurement.seconds, 3), "overruns": measurement.overruns,
            "mutirao": None if contender.native else describe_start(measurement, root)}


def describe_start(measurement: Measurement, root: int) -> dict:
    """What the library says itself."""
    world = measurement.communicator
    return {**measurement.report["start"], "first_ruled_call": world.get("first_ruled_call"),
            "ran": measurement.chosen(LENGTH_BYTES, root),
            "ranks_waited_ms": world["adaptation"]["early_waited_ms"] + world["adaptation"]["waited_ms"]}


def settled(job: dict, limit_ms: float) -> dict:
    """After how many of a program's calls, and when, all were good from then on (None: too few were), and the slowest
    on the way."""
    took_ms, begins_ms = job["completion_ms"], job["begin_ms"]
    calls = max((number for number, value in enumerate(took_ms, start=1) if value > limit_ms), default=0)
    if len(took_ms) - calls < IN_A_ROW:
        return {"calls": None, "s": None, "slowest_ms": max(took_ms)}
    return {"calls": calls, "s": (begins_ms[calls] - begins_ms[0]) / 1000,
            "slowest_ms": max(took_ms[:calls], default=None)}


def summary(result: dict) -> list[dict]:
    """Medians over the pairs, ratios within each pair."""
    limit_ms = result["good"] * result["bound_ms"]
    return [{**situation, **(_paced(situation["pairs"], limit_ms) if situation["every_ms"] else
                             _one_after_the_other(situation["pairs"]))} for situation in result["situations"]]


def _one_after_the_other(pairs: Sequence[dict]) -> dict:
    def both(value: Callable[[dict], float]) -> dict:
        return {name: median(value(pair[name]) for pair in pairs) for name in (NATIVE, OURS)} | {
            "ratio": median(value(pair[OURS]) / value(pair[NATIVE]) for pair in pairs)}

    return {"first_ms": both(lambda job: job["completion_ms"][0]),
            "init_ms": both(lambda job: job["init_ms"]),
            "whole_ms": both(lambda job: 1000 * job["seconds"])}


def _paced(pairs: Sequence[dict], limit_ms: float) -> dict:
    ours = [settled(pair[OURS], limit_ms) for pair in pairs]
    native_ms = [max(pair[NATIVE]["completion_ms"]) for pair in pairs]
    slowest = [(each["slowest_ms"], native) for each, native in zip(ours, native_ms, strict=True)
               if each["slowest_ms"] is not None]
    starts = [pair[OURS]["mutirao"] for pair in pairs]
    return {"settled_s": median(each["s"] for each in ours),
            "settled_calls": median(each["calls"] for each in ours),
            "slowest_ms": median(value for value, _ in slowest),
            "native_slowest_ms": median(native_ms),
            "slowest_ratio": median(value / native for value, native in slowest),
            "first_ruled_call": median(start["first_ruled_call"] for start in starts),
            "waited_ms": median(start["ranks_waited_ms"] for start in starts)}


def median(values: Iterable[float | None]) -> float | None:
    """What never came to be is later than everything; None also for nothing."""
    known = [math.inf if value is None else value for value in values]
    middle = statistics.median(known) if known else math.inf
    return None if math.isinf(middle) else middle


def document(result: dict) -> Document:
    lead = (f"A program broadcasts on {result['network']}, natively and with mutirao, in pairs one right after"
            " the other. Nothing waits for mutirao: until it has set up what pays a broadcast is the MPI"
            " library's own. The launcher and the ranks are behind the delays from the beginning.")
    rows = summary(result)
    singles, paced = ([row for row in rows if bool(row["every_ms"]) == is_paced] for is_paced in (False, True))
    tiles = [(judged(row["whole_ms"]["ratio"] <= WHOLE_BAR), f"{row['whole_ms']['ratio']:.3f} ×",
              f"the native time of the whole job: {row['title']}; at most {WHOLE_BAR:g} wanted") for row in singles]
    tiles += [("tile", "never" if row["settled_s"] is None else f"{row['settled_s']:.1f} s",
               f"until all broadcasts are good: {row['title']}") for row in paced]
    waited = [f"{row['title']}: rank 0 waited {row['waited_ms']:.1f} ms for others' decisions"
              for row in paced if row["waited_ms"]]
    elsewhere = [] if result["network"] == NETWORK else [f"--lab {result['network']}"]
    return Document("What the start costs, and how soon broadcasts are good", lead, result, [
        Section("The first broadcast", [_first_table(result, singles)]),
        Section("The whole job", [Drawn(_whole_table(singles), range(1, 3))]),
        Section("Until broadcasts are good", [_paced_table(result, paced)])],
        tiles, [with_settings(result)], command_of(result, *elsewhere), waited)


def _first_table(result: dict, rows: Sequence[dict]) -> Table:
    return Table(
        f"The first broadcast, {result['length_bytes']} bytes from host {result['root']} on"
        f" {result['network']}; bound {result['bound_ms']:.1f} ms, medians of"
        f" {counted(result['trials'], 'pair')}, {with_settings(result)}",
        ("ms", NATIVE, OURS, "x native", "limit"),
        [(row["title"], *(f"{row['first_ms'][name]:.1f}" for name in (NATIVE, OURS)),
          f"{row['first_ms']['ratio']:.3f}", FIRST_BAR) for row in rows])


def _whole_table(rows: Sequence[dict]) -> Table:
    def both(times: dict) -> list[str]:
        return [*(f"{times[name] / 1000:.2f}" for name in (NATIVE, OURS)), f"{times['ratio']:.3f}"]

    return Table(
        "The whole job, from its launch to its end; of it MPI_Init",
        ("s", NATIVE, OURS, "x native", "limit", "Init", OURS, "x native"),
        [(row["title"], *both(row["whole_ms"]), WHOLE_BAR, *both(row["init_ms"])) for row in rows])


def _paced_table(result: dict, rows: Sequence[dict]) -> Table:
    def shown(value: float | None, digits: int = 0, otherwise: str = "never") -> str:
        return otherwise if value is None else f"{value:.{digits}f}"

    return Table(
        f"A broadcast every {rows[0]['every_ms']} ms from the first moment on (start=soon): after so long and so many"
        f" calls all are within {result['good']:g} x the bound; the slowest until then, and natively, in ms; the call"
        " that the first ruling holds from",
        ("", "s", "calls", "slowest", NATIVE, "x", "ruled"),
        [(row["title"], shown(row["settled_s"], 2), shown(row["settled_calls"]), shown(row["slowest_ms"], 1, ""),
          shown(row["native_slowest_ms"], 1, ""), shown(row["slowest_ratio"], 2, ""),
          shown(None if row["first_ruled_call"] is None else row["first_ruled_call"] + 1)) for row in rows])
