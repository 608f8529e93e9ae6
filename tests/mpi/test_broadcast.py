"""Every algorithm moves every kind of data as MPI promises. The program checks each byte itself;
run natively it shows that what it expects is what the MPI library does."""

import pytest

from ends import calls_of, chosen_in, passed, silent_world_of, world_of
from mutirao.catalogue.core_tool import algorithms
from shared import kruskal
from shapes import SHAPES, Shape

# The parameters make every length of the program take many segments in some of the cases.
ALGORITHMS = ["native", "binomial:segment_bytes=1024", "k_nomial:radix=3,segment_bytes=4096", "chain:segment_bytes=512",
              "flat", "split_binary:segment_bytes=4096", "circulant:segment_bytes=2048", "scatter_ring_allgather",
              "scatter_recursive_doubling_allgather", "two_level", "tree:kind=mst,segment_bytes=300",
              "tree:kind=shortest_path", "tree:kind=greedy,segment_bytes=8192", "multi_lane:radix=2,segment_bytes=256",
              "locality_tree:radix=2", "striped:radix=2", "packed_trees", "groups:spread=4", "native_scatter_allgather"]


def checked(run, ranks, **settings):
    return run("collectives_check", "broadcast", ranks=ranks, settings=settings)


@pytest.mark.on_any_mpi
def test_the_program_agrees_with_the_mpi_library(run):
    assert int(passed(run("collectives_check", "broadcast", ranks=5, native=True)).lines[-1].split()[1]) > 900


@pytest.mark.on_any_mpi
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_data_arrives(run, algorithm, shape):
    world = silent_world_of(checked(run, shape.ranks, **shape.settings(broadcast=algorithm)))
    # The algorithm really ran: no silent way round by the native one.
    assert world["state"] == "mutirao"
    ours, natively = calls_of(world)
    assert {chosen.split(":")[0] for chosen in chosen_in(world)} == {algorithm.split(":")[0]}
    assert (natively if algorithm == "native" else ours) > 100
    assert (ours if algorithm == "native" else natively) == 0


def test_every_algorithm_is_forced():
    rows = {row["name"] for row in algorithms() if row["collective"] == "broadcast"}
    assert {algorithm.split(":")[0] for algorithm in ALGORITHMS} == rows


@pytest.mark.on_any_mpi
def test_data_arrives_by_what_is_chosen(run):
    world = silent_world_of(checked(run, 4, **Shape(4, 1).settings()))
    assert world["state"] == "mutirao" and sum(calls_of(world)) > 100


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
    hosts = world["hosts"]
    assert list(map(tuple, world["tree"])) == kruskal(world["latency_us"])
    edges = hosts * (hosts - 1) // 2
    assert 0 < world["adaptation"]["ghs_messages"] <= 2 * edges + 5 * hosts * (hosts - 1).bit_length() + hosts - 1
