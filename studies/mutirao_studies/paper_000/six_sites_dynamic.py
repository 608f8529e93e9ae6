"""The dynamic part of paper 000 in the lab: figures 5, 6 and 7, in which links change on the way.

Each job broadcasts one after the other and is stopped before chosen calls, as the paper's program
was; while it stands, the lab changes its links. A call's time is from the root's entry until the last
host has it. Where two figures ask for the same job it runs once.
"""

import functools
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from mutirao.base.progress import Steps, steps
from mutirao.lab.lab import Lab, bring_up
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender
from mutirao.run.mpis import Mpi
from mutirao_studies.account import LeftOut
from mutirao_studies.paper_000 import paper_000
from mutirao_studies.paper_000.changing_network import (
    BEHIND_MS,
    CHANGES,
    INSIDE_MS,
    after,
    before,
    make,
    six_gateways,
)
from mutirao_studies.paper_000.six_sites import LENGTH_BYTES, ROOT, Arm
from mutirao_studies.paper_000.steady import Pace, SteadyRun, run_steady

STUDY = "six-sites-dynamic"
REPEAT, QUICK_REPEAT = 3, 1
_MOST_SECONDS_OF_A_JOB = 900.0
# The paper's program stood still for 60 s for each link that changed (240 s for four); a twelfth.
STANDS_PER_LINK_S = 5.0
# Before which broadcast what changes; the paper does not say which links change in figure 7.
_AT_ONCE = {1: tuple(CHANGES)}
_IN_TURN = {4: ("4-6",), 8: ("12-16",), 12: ("12-20",), 16: ("0-2",)}
# Broadcasts ahead of the counted ones: so that in each figure those at which every fourth one adapts
# are the ones before which links change, as the paper's times of broadcasts say.
AHEAD = {5: 4, 6: 4, 7: 1}
SCHEDULES: Mapping[int, Mapping[int, tuple[str, ...]]] = {5: _AT_ONCE, 6: _AT_ONCE, 7: _IN_TURN}


_MST = "tree:kind=mst"
ARMS = (
    Arm("magpie-like", "MagPIe-like", {"broadcast": "two_level", "adaptation": "off"},
        "MagPIe-like"),
    Arm("mst", "MST", {"broadcast": _MST, "adaptation": "off"}, "AGM"),
    Arm("mst-each", "MST, adapting at each", {"broadcast": _MST, "adaptation": "every:1"}, "AGM-adap"),
    Arm("mst-fourth", "MST, at every fourth", {"broadcast": _MST, "adaptation": "every:4"}, "AGM-adapII"),
    Arm("default", "mutirao's default", {"broadcast": "auto", "adaptation": "auto"}),
)


@dataclass(frozen=True)
class Job:
    """One arm's program; of jobs that are equal, one is run."""

    arm: Arm
    settings: tuple[tuple[str, str], ...]
    broadcasts: int
    ahead: int
    schedule: tuple[tuple[int, tuple[str, ...]], ...]


def job_of(arm: Arm, figure: paper_000.Figure) -> Job:
    """Who adapts as in the paper has a threshold, as there."""
    settings = dict(arm.settings)
    if settings["adaptation"].startswith("every:"):
        settings["change_threshold_percent"] = f"{figure.threshold_percent:g}"
    return Job(arm, tuple(settings.items()), figure.broadcasts,
               AHEAD[figure.number], tuple(SCHEDULES[figure.number].items()))


def run_study(mpi: Mpi, quick: bool = False) -> dict:
    """Everything measured, as plain data. Failure if no arm could be measured."""
    figures = paper_000.FIGURES.values()
    repeat = QUICK_REPEAT if quick else REPEAT
    network = before(six_gateways(), CHANGES.values())
    jobs = list(dict.fromkeys(job_of(arm, figure) for figure in figures for arm in ARMS))
    circumstances = Circumstances(STUDY, quick, [mpi.name])
    left_out = LeftOut()
    runs = _run_all(network, mpi, jobs, repeat, left_out)
    left_out.check(runs)
    return {
        **circumstances.to_dict(),
        "mpi_title": mpi.title, "network": describe_network(network),
        "length_bytes": LENGTH_BYTES, "root": ROOT, "repeat": repeat, "left_out": left_out.rows,
        "figures": [describe_figure(figure, runs, network) for figure in figures],
    }


def _run_all(network: HostNetwork, mpi: Mpi, jobs: Sequence[Job], repeat: int,
             left_out: LeftOut) -> dict[Job, list[SteadyRun]]:
    runs: dict[Job, list[SteadyRun]] = {}
    with bring_up(network) as lab, steps(len(jobs) * repeat) as progress:
        for done, job in enumerate(jobs, start=1):
            settings = ", ".join(f"{name}={value}" for name, value in job.settings)
            progress.begin(f"{job.arm.title}, {job.broadcasts} broadcasts ({settings})")
            with left_out.tried(f"{job.arm.title} ({settings})"):
                runs[job] = [_run(lab, network, mpi, job, progress) for _ in range(repeat)]
            progress.advance(done * repeat - progress.done)
    return runs


def _run(lab: Lab, network: HostNetwork, mpi: Mpi, job: Job, progress: Steps) -> SteadyRun:
    lab.set_latencies(network.latency_us)
    stops = {call: functools.partial(_change, lab, names) for call, names in job.schedule}
    run = run_steady(Contender(job.arm.title, mpi, dict(job.settings)),
                     Pace(ROOT, job.broadcasts, LENGTH_BYTES, job.ahead, stops=stops), lab,
                     bounds_ms(network, job), timeout_s=_MOST_SECONDS_OF_A_JOB)
    progress.advance()
    return run


def _change(lab: Lab, names: Sequence[str]) -> None:
    for name in names:
        make(lab, CHANGES[name])
    time.sleep(len(names) * STANDS_PER_LINK_S)


def bounds_ms(network: HostNetwork, job: Job) -> list[float]:
    """Of each call, on the network as it is then."""
    bounds = []
    schedule = dict(job.schedule)
    for call in range(1, job.broadcasts + 1):
        network = after(network, [CHANGES[name] for name in schedule.get(call, ())])
        bounds.append(network.bound_from(ROOT) / 1000)
    return bounds


def describe_figure(figure: paper_000.Figure, runs: Mapping[Job, Sequence[SteadyRun]],
                    network: HostNetwork) -> dict:
    jobs = [(arm, job_of(arm, figure)) for arm in ARMS]
    return {"number": figure.number, "threshold_percent": figure.threshold_percent,
            "broadcasts": figure.broadcasts, "ahead": AHEAD[figure.number],
            "changes": [{"call": call, "link": name, **asdict(CHANGES[name])}
                        for call, names in SCHEDULES[figure.number].items() for name in names],
            "bound_ms": bounds_ms(network, jobs[0][1]),
            "arms": [describe_arm(arm, job, runs[job]) for arm, job in jobs if job in runs]}


def describe_arm(arm: Arm, job: Job, runs: Sequence[SteadyRun]) -> dict:
    described = [describe_run(run, job.ahead) for run in runs]
    columns = {name: [each["columns_s"][name] for each in described]
               for name in paper_000.COLUMNS}
    return {"key": arm.key, "title": arm.title, "in_paper": arm.in_paper,
            "settings": dict(job.settings), "runs": described,
            "columns_s": {name: None if None in values else statistics.median(values)
                          for name, values in columns.items()}}


def describe_run(run: SteadyRun, ahead: int) -> dict:
    adapting_ms, broadcasts_ms = split(run, ahead)
    columns_ms = dict(zip(paper_000.COLUMNS, (
        run.building_ms, run.stopped_ms, broadcasts_ms, adapting_ms, run.whole_ms), strict=True))
    return {"columns_s": {name: None if value is None else round(value / 1000, 4)
                          for name, value in columns_ms.items()},
            "completion_ms": list(run.completion_ms), "adaptation": run.adaptation,
            "ran": run.measurement.chosen(LENGTH_BYTES, ROOT), "overruns": run.measurement.overruns}


def split(run: SteadyRun, ahead: int) -> tuple[float | None, float]:
    """What the program waited for adapting, and for broadcasts, in ms. Adapting is None, and in the
    broadcasts, where the library does not tell.

    Adapting inside the calls comes before the message: until rank 0 is done with it a call adapts,
    and from then on it broadcasts. Adapting beside the program costs it what it waits for agreements.
    """
    adaptation = run.adaptation
    if adaptation is None or len(adaptation.get("check_ms", ())) < adaptation["checks"]:
        return None, sum(run.completion_ms)
    checks = checks_of(adaptation, ahead)
    adapting_ms, broadcasts_ms = adaptation["waited_ms"], 0.0
    for call, (begin, rank_0_begin, completion) in enumerate(
            zip(run.begin_ms, run.rank_0_begin_ms, run.completion_ms, strict=True), start=1):
        before_ms = rank_0_begin + checks[call] - begin if call in checks else 0.0
        before_ms = min(max(before_ms, 0.0), completion)
        adapting_ms += before_ms
        broadcasts_ms += completion - before_ms
    return adapting_ms, broadcasts_ms


def checks_of(adaptation: dict, ahead: int) -> dict[int, float]:
    """How long rank 0 measured and adapted inside a counted call, by that call's number. The library
    counts its calls from 0, those that go ahead included."""
    every = int(adaptation["mode"].partition(":")[2] or 0)
    return {number * every - ahead + 1: check_ms
            for number, check_ms in enumerate(adaptation.get("check_ms", ()))
            if number * every >= ahead}


def describe_network(network: HostNetwork) -> dict:
    """Its changes beside the paper's numbers."""
    changes = zip(CHANGES.values(), (*paper_000.FAILURES, *paper_000.RECOVERIES), strict=True)
    return {"name": network.name, "source": network.source, "tcp": "plain",
            "inside_ms": INSIDE_MS, "behind_ms": BEHIND_MS,
            "changes": [{"link": change.name, "before_ms": change.before_ms, "after_ms": change.after_ms,
                         "paper_before_ms": paper.before_ms, "paper_after_ms": paper.after_ms}
                        for change, paper in changes]}
