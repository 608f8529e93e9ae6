"""What tuning measures, in which order, for how long, and that nothing of it is lost or done twice."""

import random

import pytest

from made_up import JobsThatTake, calls_of, mpi_named, report, ruling
from mutirao.base.progress import Steps
from mutirao.cli.commands import tune as tuning
from mutirao.cli.commands.tune import Cell, Job, Tuning
from mutirao.lab.network import HostNetwork
from mutirao.measure import measure, profile
from mutirao.measure.measure import Campaign, Measurement, Point, campaign_in
from mutirao.measure.words import Place
from shared import built_mpi

SHORT, LONG = Cell("allreduce", 8, 0), Cell("allreduce", 65536, 0)
PREDICTED = {SHORT: {"recursive_doubling": 1.0, "native": 1.5, "rabenseifner": 1.9, "ring": 3.0},
             LONG: {"ring": 150.0, "native": 200.0, "rabenseifner": 500.0}}
NETWORK = HostNetwork(["0", "1"], ["0", "1"], [[0, 20000.0], [20000.0, 0]])


@pytest.fixture
def planned(tmp_path):
    """Without an MPI library, as if it had been surveyed."""
    def plan(**changes):
        made = Tuning(**{"mpi": mpi_named("openmpi-5"), "settings": {}, "cells": [SHORT, LONG],
                         "buffers": ["warm"], "starts": 2, "path": tmp_path / "profile.db",
                         "since_s": 0.0, "library": "Open MPI v5", "ranks": 2, "hosts": 2, "network": NETWORK,
                         "predicted_ms": PREDICTED, "job_s": 1.0, **changes})
        made.plan()
        return made

    return plan


@pytest.fixture
def now_s(monkeypatch):
    now_s = [1000.0]
    monkeypatch.setattr(tuning.time, "monotonic", lambda: now_s[0])
    return now_s


@pytest.fixture
def jobs(monkeypatch, now_s):
    """The names of what ran; each job takes half a second for each length, without any MPI."""
    def call_ms(_contender, _length):
        now_s[0] += 0.5
        return 1.25

    made_up = JobsThatTake(call_ms)
    monkeypatch.setattr(measure, "measure", made_up)
    monkeypatch.setattr(measure, "check_taken_part", lambda _measurement: None)
    return made_up.jobs


@pytest.fixture
def tune(now_s, planned):
    def run(budget_s=1e9, **changes):
        made = planned(**changes)
        run.campaign = Campaign(None, 2, None, Steps(made.points_left))
        made.run(now_s[0] + budget_s, run.campaign, random.Random(1))
        return made

    return run


@pytest.fixture
def rows(tmp_path):
    """Of the profile, by length and candidate."""
    return lambda: {(row.length_bytes, row.candidate): row
                    for _, _, row in profile.read(tmp_path / "profile.db").rows}


def test_candidates_are_those_predicted_within_the_factor_and_native(planned):
    assert planned().jobs == [
        Job("allreduce", "native", (SHORT, LONG), "warm"),
        Job("allreduce", "recursive_doubling", (SHORT,), "warm"),
        Job("allreduce", "rabenseifner", (SHORT,), "warm"), Job("allreduce", "ring", (LONG,), "warm")]
    assert len(planned(buffers=["warm", "cold"]).jobs) == 8


@pytest.mark.parametrize("ranks", [4, 5])
def test_on_one_host_all_that_can_run_is_tried(planned, ranks):
    """By the names that the library has for what goes on inside a host."""
    cells = [SHORT, Cell("broadcast", 8, 0), Cell("allgather", 8, 0)]
    jobs = planned(cells=cells, ranks=ranks, network=None, predicted_ms={cell: {} for cell in cells}).jobs
    names = {(job.collective, job.candidate) for job in jobs}
    assert {("allreduce", "native"), ("allreduce", "ring"), ("broadcast", "native"), ("broadcast", "flat:inside=flat"),
            ("broadcast", "chain:inside=chain")} <= names
    assert (("allgather", "recursive_doubling") in names) == (ranks == 4)


def test_every_candidate_runs_in_several_jobs_turn_by_turn(jobs, tune):
    tune(starts=3)
    names = [job.name for job in jobs]
    turns = [names[first:first + 4] for first in range(0, 12, 4)]
    assert len(names) == 12 and all(len(set(turn)) == 4 for turn in turns)
    assert all(turn[0] == "native" for turn in turns)
    assert turns[0][-1] == "rabenseifner", "the least promising"
    assert len({tuple(turn) for turn in turns}) > 1, "not in one order"


def test_what_was_measured_is_in_the_profile(jobs, tune, rows):
    tune()
    assert set(rows()) == {(8, "native"), (8, "recursive_doubling"), (8, "rabenseifner"), (65536, "native"),
                           (65536, "ring")}
    row = rows()[8, "rabenseifner"]
    assert row.windows == 2 * 10 and rows()[65536, "ring"].windows == 2 * 3
    assert row.median_us == pytest.approx(5000)
    assert (row.origin, row.hosts, row.root) == ("tuned", 2, -1)
    assert {job.settings and job.settings["profile"] for job in jobs} == {None, "off"}


def test_the_budget_holds_and_the_next_start_goes_on(jobs, tune, now_s):
    first = tune(budget_s=5.0)
    assert 0 < len(jobs) < 8 and first.jobs_left == 8 - len(jobs)
    assert now_s[0] <= 1005.0
    assert tune().jobs_left == 0
    names = [job.name for job in jobs]
    assert len(names) == 8 and all(names.count(name) == 2 for name in names)
    tune()
    assert len(jobs) == 8


def test_another_network_or_library_begins_anew(jobs, tune):
    tune()
    tune(library="MPICH 5")
    assert len(jobs) == 16
    farther = HostNetwork(["0", "1"], ["0", "1"], [[0, 90000.0], [90000.0, 0]])
    tune(network=farther)
    assert len(jobs) == 24


@pytest.mark.parametrize("chosen, said", [("chain:segment_bytes=4096", None), ("flat", "flat ran instead")])
def test_what_did_not_run_is_not_taken_for_it(monkeypatch, tune, rows, chosen, said):
    """It is left out."""
    of_24 = Cell("broadcast", 24, 0)

    def measured(contender, *_):
        told = None if contender.native else report(2, [calls_of(0, 24, ruling(chosen))])
        return Measurement(contender, (Point(24, 0, 1, 9.0, (5.0,) * 10),), told, 1.0)

    monkeypatch.setattr(measure, "measure", measured)
    made = tune(cells=[of_24], predicted_ms={of_24: {"chain": 1.0}})
    left_out = [each["reason"] for each in tune.campaign.failures]
    assert made.jobs_left == 0 and len(left_out) == (said is not None) and (said or "") in "".join(left_out)
    assert {(row.candidate, row.root) for row in rows().values()} == {("native", 0), ("native" if said else "chain", 0)}


def test_in_a_lab(lab_possible, tmp_path):
    """The whole of it, with an MPI library: the fastest takes one way, native two."""
    mpi = built_mpi("openmpi-5")
    cell = Cell("broadcast", 24, 0)
    network = HostNetwork.from_sites(["A", "B", "C", "D"], [[0 if a == b else 60 for b in range(4)]
                                                           for a in range(4)])
    tuned = Tuning(mpi, {}, [cell], ["warm"], 1, tmp_path / "profile.db", 0.0)
    with campaign_in(Place([mpi], 4, network, "plain"), "tune", 4) as campaign:
        tuned.survey(campaign)
        predicted_ms = tuned.predicted_ms[cell]
        assert predicted_ms["flat"] < 1.01 * min(predicted_ms.values())  # as are many others: one is enough
        tuned.predicted_ms = {cell: {name: predicted_ms[name] for name in ("flat", "native")}}
        tuned.plan()
        tuned.run(float("inf"), campaign, random.Random(1))
    number = profile.find_fabric(tuned.path, tuned.network)
    measured = profile.read(tuned.path)
    [best] = tuning.fastest(measured, tuned.asked_for(measured, number))
    # 30 ms each way: all at once, or half of them after the other half.
    assert 30_000 <= best["median_us"] < 45_000 < 60_000 <= best["native_us"], best["candidate"]
    assert {(call.ranks, call.most_on_a_host, call.fabric.hosts) for call in measured.calls} == {(4, 1, 4)}
