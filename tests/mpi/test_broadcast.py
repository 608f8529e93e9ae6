"""When and where mutirao's algorithms take broadcasts, of which the program checks each byte itself."""

import pytest

from ends import calls_of, chosen_in, passed, silent_world_of, world_of
from shared import kruskal


def checked(run, ranks, **settings):
    return run("collectives_check", "broadcast", ranks=ranks, settings=settings)


@pytest.mark.parametrize("algorithm", ["tree:kind=shortest_path,segment_bytes=4096",
                                       pytest.param("auto", marks=pytest.mark.on_any_mpi)])
def test_data_arrives_while_the_rulings_come(run, algorithm):
    """Nobody waits: the first calls run natively, and those after a ruling by it."""
    world = silent_world_of(checked(run, 5, broadcast=algorithm, ranks_per_host="1"))
    ours, natively = calls_of(world)
    assert natively > 0
    if algorithm != "auto":
        assert ours > 0 and world["first_ruled_call"] >= 8


@pytest.mark.on_any_mpi
def test_one_host_is_left_to_the_mpi_library_without_trials(run):
    world, *others = passed(checked(run, 3, trials="off")).report["communicators"]
    # Short-lived communicators end before their ranks ask each other.
    assert {each["state"] for each in (world, *others)} == {"native", "not yet"}
    assert all(calls_of(each)[0] == 0 for each in (world, *others)) and world["reason"] == "one host"


@pytest.mark.on_any_mpi
def test_on_one_host_what_is_forced_runs(run):
    world = silent_world_of(checked(run, 3, start="wait", broadcast="chain"))
    assert chosen_in(world) == {"chain"} and calls_of(world)[1] == 0


@pytest.mark.on_any_mpi
def test_the_tree_is_kruskals(run):
    """The distributed algorithm over MPI against a sequential one over the reported latencies."""
    world = world_of(run("collective", "broadcast", ranks=6, settings={"ranks_per_host": "1",
                                                                       "adaptation": "every:1000"}))
    assert list(map(tuple, world["tree"])) == kruskal(world["latency_us"])
