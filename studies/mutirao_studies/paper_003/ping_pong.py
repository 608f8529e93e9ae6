"""Messages between two ranks in C, Java and Python: paper 003, asked of today's libraries.

Each way to send a message (ping_pong_ways) runs its program of bench/ping_pong, on one host and across
the lab over a cable of 100 Mbit/s as in the paper, of 1 Gbit/s, and one without limit; then some of them
once more with one thing changed (ping_pong_causes), which says where the time goes.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from mutirao.base.errors import Failure, UsageError
from mutirao.base.progress import Steps, steps
from mutirao.lab.lab import Lab, bring_up, verify_run
from mutirao.lab.named_networks import load_preset
from mutirao.measure.circumstances import Circumstances
from mutirao.run.mpis import found_mpis
from mutirao_studies.account import LeftOut, check_known
from mutirao_studies.paper_003 import paper_003
from mutirao_studies.paper_003.java import find_java
from mutirao_studies.paper_003.ping_pong_causes import (
    CABLE,
    CAUSES,
    ONE_HOST,
    UNLIMITED,
    Cause,
    measure_cause,
    quick_causes,
)
from mutirao_studies.paper_003.ping_pong_times import combined
from mutirao_studies.paper_003.ping_pong_ways import BY_KEY, WAYS, Change, Way, Work

STUDY = "ping-pong"
QUICK_TRIPS = 5
# The ways take turns, so that what disturbs the machine for a while meets them alike.
ROUNDS = 4
_LEAST_TRIPS_IN_ROUNDS = 100
QUICK_SIZES_BYTES = paper_003.SIZES_BYTES[::2]
_MOST_SECONDS_OF_A_JOB = 3600.0


@dataclass(frozen=True)
class Situation:
    key: str
    title: str
    preset: str | None = None  # None: both ranks on this host


SITUATIONS = {each.key: each for each in (  # by what --only takes
    Situation(ONE_HOST, "one host"),
    Situation(CABLE, "two hosts, 100 Mbit/s", "two-hosts-100mbit"),
    Situation("1gbit", "two hosts, 1 Gbit/s", "two-hosts-1gbit"),
    Situation(UNLIMITED, "two hosts, no limit", "two-hosts"),
)}
_QUICK_SITUATIONS = (ONE_HOST, CABLE)


@dataclass(frozen=True)
class Plan:
    ways: Sequence[Way]
    situations: Sequence[Situation]
    work: Work  # of a job
    rounds: int
    causes: Sequence[Cause]

    @property
    def jobs(self) -> int:
        return len(self.situations) * self.rounds * len(self.ways) + len(self.causes)


def plan_for(quick: bool, trips: int | None, mpi_names: Sequence[str] | None,
             only: Sequence[str] = ()) -> Plan:
    check_known("situation", only, SITUATIONS)
    ways = [way for way in WAYS if mpi_names is None or BY_KEY[way.base].mpi in mpi_names]
    if not ways:
        raise UsageError(f"no program of {STUDY} uses {', '.join(mpi_names or ())} (known:"
                         f" {', '.join(dict.fromkeys(way.mpi for way in WAYS if way.mpi))})")
    situations = [SITUATIONS[key] for key in only or (_QUICK_SITUATIONS if quick else SITUATIONS)]
    causes = [cause for cause in CAUSES if BY_KEY[cause.way] in ways and cause.situation in (only or SITUATIONS)]
    trips = trips or (QUICK_TRIPS if quick else paper_003.TRIPS)
    rounds = ROUNDS if trips >= _LEAST_TRIPS_IN_ROUNDS else 1
    work = Work(QUICK_SIZES_BYTES if quick else paper_003.SIZES_BYTES, trips // rounds)
    return Plan(ways, situations, work, rounds, quick_causes(causes) if quick else causes)


def run_study(mpi_names: Sequence[str] | None = None, quick: bool = False,
              trips: int | None = None, only: Sequence[str] = ()) -> dict:
    plan = plan_for(quick, trips, mpi_names, only)
    circumstances = Circumstances(STUDY, quick, list(mpi_names or ()))
    left_out = LeftOut()
    with steps(plan.jobs) as progress:
        measured = []
        for situation in plan.situations:
            with left_out.tried(situation.title):
                measured.append(_measure(situation, plan, progress, left_out))
        left_out.check([way for each in measured for way in each["ways"]])
        running = {way["key"] for each in measured for way in each["ways"]}
        causes = _explain(plan, running, progress, left_out)
    return {**circumstances.to_dict(), "only": list(only), "versions": versions(plan.ways),
            "trips": plan.work.trips, "rounds": plan.rounds,
            "sizes_bytes": list(plan.work.sizes_bytes), "situations": measured,
            "causes": causes, "left_out": left_out.rows}


def _place(situation: Situation) -> AbstractContextManager[Lab | None]:
    return bring_up(load_preset(situation.preset)) if situation.preset else nullcontext()


def _measure(situation: Situation, plan: Plan, progress: Steps, left_out: LeftOut) -> dict:
    jobs: dict[Way, list[dict]] = {way: [] for way in plan.ways}
    with _place(situation) as lab:
        for number in range(plan.rounds):
            for way in list(jobs):
                progress.begin(f"{situation.title}, round {number + 1}: {way.title}")
                with left_out.tried(way.title):
                    jobs[way].append(_measure_way(way, lab, plan.work))
                if len(jobs[way]) <= number:
                    progress.advance(plan.rounds - number - 1)
                    del jobs[way]
                progress.advance()
    return {"key": situation.key, "title": situation.title, "preset": situation.preset,
            "ways": [_described(way, each) for way, each in jobs.items()]}


def _described(way: Way, jobs: Sequence[dict]) -> dict:
    rounds = [job["times"] for job in jobs]
    return {"key": way.key, "title": way.title, "language": way.language, "base": way.base,
            "mpi": way.mpi, "overruns": sum(job["overruns"] for job in jobs),
            "times": combined(rounds), "rounds": rounds}


def _measure_way(way: Way, lab: Lab | None, work: Work) -> dict:
    before = lab.counters() if lab else None
    times = way.run(work, lab, Change(), timeout_s=_MOST_SECONDS_OF_A_JOB)
    overruns = 0
    if lab:
        after = lab.counters()
        overruns = after.overruns - before.overruns
        # The hosts lie side by side, so the cable alone bounds a message, if anything does.
        mbit = lab.network.most_mbit(0, 1) or math.inf
        for each in times:
            verify_run(each["length_bytes"] * 8 / mbit, each["median_us"], before.packets[0][1], after.packets[0][1])
    return {"overruns": overruns, "times": times}


def _explain(plan: Plan, running: set[str], progress: Steps, left_out: LeftOut) -> list[dict]:
    """Nothing of a way that did not run before: its reason is told already."""
    measured: list[dict] = []
    for situation in SITUATIONS.values():
        causes = [cause for cause in plan.causes if cause.situation == situation.key and cause.way in running]
        if not causes:
            continue
        with left_out.tried(situation.title), _place(situation) as lab:
            for cause in causes:
                title = f"{cause.question}: {BY_KEY[cause.way].title}"
                progress.begin(title)
                with left_out.tried(title):
                    measured.append(measure_cause(cause, lab))
                progress.advance()
    return measured


def versions(ways: Sequence[Way]) -> list[str]:
    """Of the libraries found, and of Java."""
    names = {way.mpi for way in ways}
    titles = [mpi.title for mpi in found_mpis() if mpi.name in names]
    with suppress(Failure):
        titles.append(find_java().title)
    return titles
