"""On one host predictions are no reason to leave the MPI library, so calls take turns and what they take
decides. The truth here is a tool behind mutirao that makes the MPI library's own function slow."""

import os

import pytest

from ends import calls_of, chosen_in, ended_well, passed, silent_world_of, world_of
from mutirao.base.paths import PRELOAD
from mutirao.measure.measure import read_point
from shared import in_time
from tools import slow_native


def last_ruling(world, collective):
    rows = [row for row in world["classes"] if row["collective"] == collective]
    return max((row["rulings"][-1] for row in rows if row["rulings"]),
               key=lambda ruling: ruling["first_call"], default=None)


def test_leaves_the_mpi_library_where_that_is_slower(run, mpi, tmp_path):
    slow = slow_native(mpi, "MPI_Allgather", 300, tmp_path)

    def trial():
        program = ["env", f"LD_PRELOAD={PRELOAD}:{slow}", str(mpi.program("collective")),
                   "allgather", "--bytes", "1024", "--consecutive", "6000"]
        world = world_of(run(program, "--repeat", 1, ranks=2))
        ours, natively = calls_of(world)
        assert natively > 0
        ruling = last_ruling(world, "allgather")
        settled = ruling and "measured" in ruling["reason"] and "native" not in ruling["chosen"]
        return None if settled and ours > natively else (ours, natively, ruling)

    in_time(trial)


def test_stable_sums_change_only_where_the_log_says(run, mpi, wheels_only, tmp_path):
    """The program sees by the bits which calls ran otherwise than the one before. So that something else is tried,
    and is seen, on any machine, the MPI library's own sum is made slow, and its last bit another one, and there is
    but one link: on loopback native may be as fast as anything can be predicted to be, and links may look uneven.
    After its first few calls MPICH goes another way by itself, unless it is told not to."""
    tool = slow_native(mpi, "MPI_Allreduce", 300, tmp_path, afterwards="*(char*)to ^= 1;")
    program = ["env", f"LD_PRELOAD={PRELOAD}:{tool}", "MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD=1000000000",
               str(mpi.program("sums")), "told"]

    def trial():
        finished = passed(run(program, ranks=4, settings={"profile": "off", "ranks_per_host": "2"}))
        changed = [int(line) for line in finished.lines[:-1]]
        world = finished.report["communicators"][0]
        log = [change for change in world["changes"] if change["collective"] == "allreduce"]
        assert world["forgotten_changes"] == 0
        named = {change["call"] for change in log}
        ends = [change["call"] for change in log[1:]] + [world["calls"]]
        on_probe = [range(change["call"], end) for change, end in zip(log, ends) if change["probe_calls"]]
        unlogged = [call for call in changed
                    if call not in named and not any(call in calls for calls in on_probe)]
        assert not unlogged, (unlogged, log)
        return "nothing changed in the program's time" if not changed else None

    in_time(trial)


def test_calls_beside_are_the_mpi_librarys_own(run, mpi, tmp_path):
    """Past what is preloaded, here a tool that makes them slow."""
    slow = slow_native(mpi, "MPI_Allgather", 100_000, tmp_path)
    program = ["env", f"LD_PRELOAD={slow}", str(mpi.program("collective")), "allgather"]
    finished = ended_well(run(program, "--repeat", 3, "--beside-native", 1, ranks=2, native=True))
    point = read_point(finished.lines[-1], None, 2)
    assert len(point.completion_ms) == len(point.native_ms) == 3
    assert min(point.completion_ms) > 100 > min(point.native_ms)


@pytest.mark.on_any_mpi
def test_keeps_to_it_where_nothing_is_better_for_it(run, mpi):
    """Whoever wins, each of them ran, and what it took is told."""
    def trial():
        world = world_of(run("collective", "barrier", "--consecutive", 200_000, "--repeat", 1, ranks=2))
        ours, natively = calls_of(world)
        assert natively > 0
        ruling = last_ruling(world, "barrier")
        return None if ours > 0 and ruling and "measured" in ruling["reason"] else ruling

    in_time(trial)


@pytest.mark.on_any_mpi
def test_ranks_without_a_processor_are_left_to_the_mpi_library(run):
    """There ranks take turns with the processors: a reduction whose leaves return at once would seem fast."""
    ranks = os.cpu_count() + 1
    world = world_of(run("collective", "barrier", ranks=ranks, settings={"trials": "auto"}))
    assert (world["state"], world["reason"]) == ("native", "one host, with more ranks than processors")
    asked_for = world_of(run("collective", "barrier", ranks=ranks))
    assert asked_for["state"] == "mutirao", asked_for["reason"]


@pytest.mark.on_any_mpi
def test_what_is_forced_runs_and_without_trials_nothing_else_does(run):
    forced = silent_world_of(run("collectives_check", "broadcast", ranks=3, settings={
        "start": "wait", "broadcast": "chain"}))
    assert chosen_in(forced) == {"chain"} and calls_of(forced)[1] == 0
    ours = passed(run("collectives_check", "broadcast", ranks=3, settings={"trials": "off"}))
    world, *others = ours.report["communicators"]
    # Short-lived communicators end before their ranks ask each other.
    assert {each["state"] for each in (world, *others)} == {"native", "not yet"}
    assert all(calls_of(each)[0] == 0 for each in (world, *others)) and world["reason"] == "one host"


# Five take long where MPI libraries spin while they wait.
@pytest.mark.on_any_mpi
@pytest.mark.parametrize("ranks", [3, pytest.param(5, marks=pytest.mark.long)])
def test_results_are_right_meanwhile(run, wheels_only, ranks):
    passed(run("collectives_check", *["allreduce", "allgather", "barrier", "reduce", "alltoall"] * 4,
               ranks=ranks))
