"""What tuning measures, in which order, for how long, and that nothing of it is lost or done twice."""

import random

import pytest

from made_up import calls_of, report, ruling
from mutirao.base.errors import Failure
from mutirao.base.progress import Steps
from mutirao.cli.commands import tune as tuning
from mutirao.cli.commands.tune import Cell, Job, Survey, Tuning, Wanted, plan, run_job
from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork
from mutirao.measure import profile
from mutirao.measure.measure import Contender, Measurement, Point
from mutirao.run.mpis import found_mpis

SHORT, LONG = Cell("allreduce", 8, 0), Cell("allreduce", 65536, 0)
PREDICTED = {SHORT: {"recursive_doubling": 1.0, "native": 1.5, "rabenseifner": 1.9, "ring": 3.0},
             LONG: {"ring": 150.0, "native": 200.0, "rabenseifner": 500.0}}
NETWORK = HostNetwork(["0", "1"], ["0", "1"], [[0, 20000.0], [20000.0, 0]])
MPI = "Open MPI v5"


def survey(**changes):
    return Survey(**{"mpi": MPI, "network": NETWORK, "predicted_ms": PREDICTED, "job_s": 1.0,
                     "hosts": 2, **changes})


def wanted(**changes):
    return Wanted(**{"mpi": None, "ranks": 2, "lab": None, "settings": {}, "cells": [SHORT, LONG],
                     "buffers": ["warm"], "jobs": 2, "factor": 2.0, **changes})


@pytest.fixture
def jobs(monkeypatch):
    """Those that ran; each measures what was asked for, without any MPI, in as long as was estimated."""
    ran = []
    now_s = [1000.0]

    def measured(_wanted, surveyed, job):
        ran.append(job)
        now_s[0] += surveyed.estimate_s(job)
        for cell in job.cells:
            calls = surveyed.calls(cell)
            yield tuning._row(2, 2, cell, job, Point(cell.length_bytes, 0, 1, 9.0, (5.0,) * calls))

    monkeypatch.setattr(tuning, "run_job", measured)
    monkeypatch.setattr(tuning.time, "monotonic", lambda: now_s[0])
    return ran


def tune(path, budget_s=1e9, seed=1, surveyed=None, **changes):
    made = Tuning(wanted(**changes), surveyed or survey(), path, 0.0)
    made.run(tuning.time.monotonic() + budget_s, Steps(made.jobs_left), random.Random(seed))
    return made


def test_candidates_are_those_predicted_within_the_factor_and_native():
    assert plan(wanted(), survey()) == [
        Job("allreduce", "native", (SHORT, LONG), "warm"),
        Job("allreduce", "recursive_doubling", (SHORT,), "warm"),
        Job("allreduce", "rabenseifner", (SHORT,), "warm"), Job("allreduce", "ring", (LONG,), "warm")]
    assert len(plan(wanted(factor=4.0, buffers=["warm", "cold"]), survey())) == 8


def test_where_nothing_is_predicted_all_are_tried():
    cells = [SHORT, Cell("broadcast", 8, 0)]
    jobs = plan(wanted(cells=cells), survey(predicted_ms={cell: {} for cell in cells}))
    names = {(job.collective, job.candidate) for job in jobs}
    assert {("allreduce", "native"), ("allreduce", "ring"), ("allreduce", "recursive_multiplying:radix=4"),
            ("broadcast", "native")} <= names
    insides = [name for collective, name in names if collective == "broadcast" and "inside" in name]
    assert len(insides) == len({name.partition("inside=")[2] for name in insides}) > 2


def test_every_candidate_runs_in_several_jobs_turn_by_turn(jobs, tmp_path):
    tune(tmp_path / "profile.db", jobs=3)
    turns = [jobs[first:first + 4] for first in range(0, 12, 4)]
    assert len(jobs) == 12 and all(len(set(turn)) == 4 for turn in turns)
    assert all(turn[0].candidate == "native" for turn in turns)
    assert turns[0][-1].candidate == "rabenseifner", "the least promising"
    assert len({tuple(turn) for turn in turns}) > 1, "not in one order"


def test_what_was_measured_is_in_the_profile(jobs, tmp_path):
    path = tmp_path / "profile.db"
    tune(path)
    rows = {(row.length_bytes, row.candidate): row for fabric, mpi, row in profile.read(path).rows}
    assert set(rows) == {(8, "native"), (8, "recursive_doubling"), (8, "rabenseifner"), (65536, "native"),
                         (65536, "ring")}
    assert rows[8, "rabenseifner"].windows == 2 * 10 and rows[65536, "ring"].windows == 2 * 3
    assert rows[8, "rabenseifner"].median_us == pytest.approx(5000)
    row = rows[8, "rabenseifner"]
    assert (row.origin, row.hosts, row.root) == ("tuned", 2, -1)


def test_the_budget_holds_and_the_next_start_goes_on(jobs, tmp_path):
    path = tmp_path / "profile.db"
    first = tune(path, budget_s=5.0)
    ended_s = tuning.time.monotonic()
    assert 0 < len(jobs) < 8 and first.jobs_left == 8 - len(jobs)
    assert ended_s <= 1005.0
    second = tune(path)
    assert len(jobs) == 8 and second.jobs_left == 0
    assert all(jobs.count(job) == 2 for job in jobs)
    tune(path)
    assert len(jobs) == 8


def test_another_network_or_library_begins_anew(jobs, tmp_path):
    path = tmp_path / "profile.db"
    tune(path)
    tune(path, surveyed=survey(mpi="MPICH 5"))
    assert len(jobs) == 16
    farther = HostNetwork(["0", "1"], ["0", "1"], [[0, 90000.0], [90000.0, 0]])
    tune(path, surveyed=survey(network=farther))
    assert len(jobs) == 24


def test_a_job_that_fails_is_left_out(monkeypatch, tmp_path):
    def failing(_wanted, _surveyed, job):
        if job.candidate == "ring":
            raise Failure("ring: wrong bytes")
        return ()

    monkeypatch.setattr(tuning, "run_job", failing)
    made = tune(tmp_path / "profile.db")
    assert list(made.refused.values()) == ["ring: wrong bytes"] and made.jobs_left == 0


def test_what_did_not_run_is_not_taken_for_it(monkeypatch):
    of_24 = Cell("broadcast", 24, 0)
    job = Job("broadcast", "chain", (of_24,), "warm")
    points = (Point(24, 0, 1, 9.0, (5.0,) * 10),)

    def measured(chosen):
        told = report(2, [calls_of(0, 24, ruling(chosen))])
        contender = Contender("chain", found_mpis()[0], {"broadcast": "chain"}, "broadcast")
        monkeypatch.setattr(tuning, "_measure",
                            lambda *_: Measurement(contender, points, told, 1.0))
        return list(run_job(wanted(), survey(predicted_ms={of_24: {}}), job))

    assert [row.root for row in measured("chain:segment_bytes=4096")] == [0]
    with pytest.raises(Failure, match="flat ran instead"):
        measured("flat")


def test_in_a_lab(lab_possible, tmp_path):
    """The whole of it, with an MPI library: the fastest takes one way, native two."""
    mpi = next((each for each in found_mpis() if each.name == "openmpi-5" and each.built), None)
    if mpi is None:
        pytest.skip("openmpi-5 is not built: make build")
    path, cell = tmp_path / "profile.db", Cell("broadcast", 24, 0)
    network = HostNetwork.from_sites(["A", "B", "C", "D"], [[0 if a == b else 60 for b in range(4)]
                                                           for a in range(4)])
    with Lab.up(network) as lab:
        asked = Wanted(mpi, 4, lab, {}, [cell], ["warm"], 1, 1.3)
        surveyed = tuning.survey(asked, Steps(1))
        Tuning(asked, surveyed, path, 0.0).run(float("inf"), Steps(1), random.Random(1))
    number = profile.find_fabric(path, surveyed.network)
    measured = profile.read(path)
    [best] = tuning.fastest(measured, number, asked, surveyed.mpi)
    # 30 ms each way: all at once, or half of them after the other half.
    assert 30_000 <= best["median_us"] < 45_000 < 60_000 <= best["native_us"], best["candidate"]
    assert {(call.ranks, call.most_on_a_host, call.fabric.hosts) for call in measured.calls} == {(4, 1, 4)}
