"""Every algorithm moves every kind of data as MPI promises. The program checks each byte itself;
run natively it shows that what it expects is what the MPI library does."""

import pytest

from ends import calls_of, chosen_in, passed, silent_world_of, world_of
from mutirao.catalogue.core_tool import algorithms
from shared import kruskal
from shapes import SHAPES, Shape

# One host per rank, and several ranks per host with a last host that is not full. The parameters
# make every length of the program take many segments in some of the cases.
CASES = [
    ("binomial:segment_bytes=1024", 1, 5),
    ("k_nomial:radix=3,segment_bytes=4096", 1, 7),
    ("chain:segment_bytes=512", 2, 5),
    ("flat", 1, 4),
    ("split_binary:segment_bytes=4096", 1, 6),
    ("circulant:segment_bytes=2048", 1, 5),
    ("scatter_ring_allgather", 1, 5),
    ("scatter_recursive_doubling_allgather", 1, 6),
    ("two_level", 2, 5),
    ("tree:kind=mst,segment_bytes=300", 1, 5),
    ("tree:kind=shortest_path", 2, 6),
    ("tree:kind=greedy,segment_bytes=8192", 1, 4),
    ("multi_lane:radix=2,segment_bytes=256", 2, 5),
    ("locality_tree:radix=2", 2, 5),
    ("striped:radix=2", 1, 5),
    ("packed_trees", 1, 5),
    ("groups:spread=4", 2, 6),
    ("native_scatter_allgather", 2, 5),
    ("auto", 1, 4),
    ("native", 1, 4),
]
FORCED = [algorithm for algorithm, _, _ in CASES if algorithm != "auto"]


@pytest.mark.on_any_mpi
def test_the_program_agrees_with_the_mpi_library(run):
    assert int(passed(run("broadcast_check", ranks=5, native=True)).lines[-1].split()[1]) > 900


@pytest.mark.on_any_mpi
@pytest.mark.parametrize("algorithm,ranks_per_host,ranks", CASES, ids=lambda value: str(value))
def test_data_arrives(run, algorithm, ranks_per_host, ranks):
    data_arrives(run, algorithm, Shape(ranks, ranks_per_host))


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("algorithm", FORCED)
def test_data_arrives_in_every_shape(run, algorithm, shape):
    data_arrives(run, algorithm, shape)


def test_every_algorithm_is_forced():
    rows = {row["name"] for row in algorithms() if row["collective"] == "broadcast"}
    assert {algorithm.split(":")[0] for algorithm in FORCED} == rows


def data_arrives(run, algorithm, shape):
    world = silent_world_of(run("broadcast_check", ranks=shape.ranks, settings=shape.settings(broadcast=algorithm)))
    # The algorithm really ran: no silent way round by the native one.
    assert world["state"] == "mutirao"
    ours, natively = calls_of(world)
    if algorithm != "auto":
        assert {chosen.split(":")[0] for chosen in chosen_in(world)} == {algorithm.split(":")[0]}
        assert (natively if algorithm == "native" else ours) > 100
        assert (ours if algorithm == "native" else natively) == 0
    assert ours + natively > 100


@pytest.mark.parametrize("algorithm", ["tree:kind=shortest_path,segment_bytes=4096",
                                       pytest.param("auto", marks=pytest.mark.on_any_mpi)])
def test_data_arrives_while_the_rulings_come(run, algorithm):
    """Nobody waits: the first calls run natively, and those after a ruling by it."""
    world = silent_world_of(run("broadcast_check", ranks=5, settings={"broadcast": algorithm, "ranks_per_host": "1"}))
    ours, natively = calls_of(world)
    assert natively > 0
    if algorithm != "auto":
        assert ours > 0 and world["first_ruled_call"] >= 8


@pytest.mark.on_any_mpi
def test_one_host_is_left_to_the_mpi_library_without_trials(run):
    world, *others = passed(run("broadcast_check", ranks=3, settings={"trials": "off"})).report["communicators"]
    # Short-lived communicators end before their ranks ask each other.
    assert {each["state"] for each in (world, *others)} == {"native", "not yet"}
    assert all(calls_of(each)[0] == 0 for each in (world, *others)) and world["reason"] == "one host"


@pytest.mark.on_any_mpi
def test_on_one_host_what_is_forced_runs(run):
    world = silent_world_of(run("broadcast_check", ranks=3, settings={"start": "wait", "broadcast": "chain"}))
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
