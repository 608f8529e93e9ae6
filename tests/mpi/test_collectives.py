"""Every algorithm of every collective moves and combines every kind of data as MPI promises, in every
way to call it. The program checks each element itself; run natively it shows that what it expects is
what the MPI library does. That an algorithm ran is seen in the report's counts."""

from collections import defaultdict

import pytest

from ends import calls_of, passed
from mutirao.catalogue.core_tool import algorithms
from shapes import ALONE, SHAPES, runs, seldom_if_many

pytestmark = pytest.mark.usefixtures("wheels_only")

# Of broadcasts, so that every length of the program takes many segments in some of the cases.
PARAMETERS = {"binomial": ["segment_bytes=1024"], "k_nomial": ["radix=3,segment_bytes=4096"],
              "chain": ["segment_bytes=512"], "split_binary": ["segment_bytes=4096"],
              "circulant": ["segment_bytes=2048"], "multi_lane": ["radix=2,segment_bytes=256"],
              "locality_tree": ["radix=2"], "striped": ["radix=2"], "groups": ["spread=4"],
              "tree": ["kind=mst,segment_bytes=300", "kind=shortest_path", "kind=greedy,segment_bytes=8192"]}


def candidates_of(row):
    known = PARAMETERS.get(row["name"], []) if row["collective"] == "broadcast" else []
    return [f"{row['name']}:{each}" for each in known] or [row["name"]]


ROWS = [{**row, "candidate": candidate} for row in algorithms() for candidate in candidates_of(row)]
COLLECTIVES = list(dict.fromkeys(row["collective"] for row in ROWS))

# For calls that the MPI library runs.
NATIVE_SHAPES = [pytest.param(shape, id=str(shape), marks=seldom_if_many(shape)) for shape in SHAPES]

# Where ranks do not know of each other's lengths.
OF_ANY_LENGTH = ("gatherv", "scatterv", "alltoallv", "alltoallw")


def rounds():
    """Each algorithm has its turn, and a job forces one of every collective: (algorithms, the shapes that they run in)."""
    alike = defaultdict(lambda: defaultdict(list))
    for row in ROWS:
        shapes = tuple(shape for shape in SHAPES if runs(row, shape))
        alike[shapes][row["collective"]].append(row)
    for shapes, by_collective in alike.items():
        for turn in range(max(map(len, by_collective.values()))):
            yield [rows[turn] for rows in by_collective.values() if turn < len(rows)], shapes


def named(rows):
    return f"{rows[0]['collective']}-{rows[0]['name']}-and-{len(rows) - 1}-more"


ROUNDS_AND_SHAPES = [pytest.param(rows, shape, shape in shapes, marks=[] if shape in shapes else seldom_if_many(shape),
                                  id=f"{named(rows)}-{'run' if shape in shapes else 'are-left'}-{shape}")
                     for rows, shapes in rounds() for shape in SHAPES]


def left_to(mpi, shape):
    """Of 8 ranks that describe the same blocks in different ways, each of Open MPI's chooses its own algorithm, and they
    hang."""
    hangs = ["allgatherv"] if mpi.known.title == "Open MPI" and shape.ranks == 8 else []
    return [each for each in COLLECTIVES if each not in hangs]


def forced(run, rows, shape):
    finished = passed(run("collectives_check", *(row["collective"] for row in rows), ranks=shape.ranks, timeout_s=1000,
                          settings=shape.settings(**{row["collective"]: row["candidate"] for row in rows})))
    assert finished.errors == ""  # nothing is printed unless asked
    return finished


def classes_of(finished, collective):
    world = finished.report["communicators"][0]
    return {**world, "classes": [each for each in world["classes"]
                                 if each["collective"] == collective]}


@pytest.mark.on_any_mpi
@pytest.mark.parametrize("shape", NATIVE_SHAPES)
def test_the_program_agrees_with_the_mpi_library(run, mpi, shape):
    passed(run("collectives_check", *left_to(mpi, shape), ranks=shape.ranks, native=True, timeout_s=1000))


@pytest.mark.on_any_mpi
@pytest.mark.parametrize("rows, shape, are_run", ROUNDS_AND_SHAPES)
def test_forced(run, mpi, rows, shape, are_run):
    """What is not for so many ranks is left to the MPI library, as is what is native by name."""
    if not are_run:
        rows = [row for row in rows if row["collective"] in left_to(mpi, shape)]
    finished = forced(run, rows, shape)
    for row in rows:
        collective, name = row["collective"], row["name"]
        world = classes_of(finished, collective)
        ours, natively = calls_of(world)
        if not are_run:
            assert ours == 0 and natively > 0
            continue
        rulings = [each["rulings"] for each in world["classes"]]
        chosen = {ruling["chosen"].split(":")[0] for each in rulings for ruling in each}
        assert name in chosen and chosen <= {name, "native"}
        assert all("the network changed" in ruling["reason"] for each in rulings for ruling in each[1:])
        assert all((each["length_bytes"] is None) == (collective in OF_ANY_LENGTH) for each in world["classes"])
        # Operators that do not commute are the MPI library's where the algorithm cannot take them.
        takes_all = "operators that commute only" not in row["restrictions"]
        assert ours > 0 and (natively == 0 if takes_all else ours >= natively)


@pytest.mark.long
@pytest.mark.parametrize("rows", [rows for rows, shapes in rounds() if shapes], ids=named)
def test_forced_on_one_rank(run, rows):
    assert forced(run, rows, ALONE).report["communicators"] == []


@pytest.mark.parametrize("shape", NATIVE_SHAPES)
@pytest.mark.parametrize("start", ["soon", "wait"])
def test_chosen_freely(run, mpi, start, shape):
    passed(run("collectives_check", *left_to(mpi, shape), ranks=shape.ranks, timeout_s=1000,
               settings=shape.settings(start=start)))
