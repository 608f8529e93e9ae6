"""Every algorithm of every collective moves and combines every kind of data as MPI promises, in every
way to call it. The program checks each element itself; run natively it shows that what it expects is
what the MPI library does. That an algorithm ran is seen in the report's counts."""

import pytest

from ends import calls_of, passed
from mutirao.core_tool import algorithms

ROWS = [row for row in algorithms() if row["collective"] != "broadcast"]  # test_broadcast.py
COLLECTIVES = list(dict.fromkeys(row["collective"] for row in ROWS))

# Where ranks do not know of each other's lengths.
OF_ANY_LENGTH = ("gatherv", "scatterv", "alltoallv", "alltoallw")

# A power of two with a host for each rank, and two hosts of two ranks beside one of one.
SHAPES = {"openmpi-5": (4, 1), "mpich-5": (5, 2)}


def fits(row, ranks):
    """By what `mutirao algorithms` says: "2, 4, 8, ... ranks only"."""
    limits = [text for text in row["restrictions"] if text.endswith("ranks only")]
    return all(str(ranks) in text.split(", ") for text in limits)


def settings_for(mpi, **settings):
    return {"start": "wait", "ranks_per_host": str(SHAPES[mpi.name][1]), **settings}


def classes_of(finished, collective):
    world = finished.report["communicators"][0]
    return {**world, "classes": [each for each in world["classes"]
                                 if each["collective"] == collective]}


@pytest.fixture
def mpi(wheel):
    return wheel


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_program_agrees_with_the_mpi_library(run, mpi, collective):
    passed(run("collectives_check", collective, ranks=SHAPES[mpi.name][0], once=True))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['collective']}-{row['name']}")
def test_forced(run, mpi, row):
    collective, name = row["collective"], row["name"]
    ranks = SHAPES[mpi.name][0]
    finished = passed(run("collectives_check", collective, ranks=ranks,
                          settings=settings_for(mpi, **{collective: name})))
    assert finished.errors == ""  # nothing is printed unless asked
    world = classes_of(finished, collective)
    ours, natively = calls_of(world)
    chosen = {ruling["chosen"].split(":")[0] for each in world["classes"]
              for ruling in each["rulings"]}
    if row["native"] or not fits(row, ranks):
        assert ours == 0 and natively > 0
        return
    assert name in chosen and chosen <= {name, "native"}
    assert all(len(each["rulings"]) == 1 for each in world["classes"] if each["rulings"])
    assert all((each["length_bytes"] is None) == (collective in OF_ANY_LENGTH)
               for each in world["classes"])
    # Operators that do not commute are the MPI library's where the algorithm cannot take them.
    takes_all = "operators that commute only" not in row["restrictions"]
    assert ours > 0 and (natively == 0 if takes_all else ours >= natively)


@pytest.mark.parametrize("start", ["beside", "wait"])
def test_chosen_freely(run, mpi, start):
    ranks, per_host = SHAPES[mpi.name]
    passed(run("collectives_check", *COLLECTIVES, ranks=ranks, settings={
        "start": start, "ranks_per_host": str(per_host)}))


def test_rulings_come_while_the_program_runs(run, mpi):
    """Nobody waits: the first calls run natively, and those after a ruling by it."""
    finished = passed(run("collectives_check", *["allreduce", "allgather", "barrier"] * 10,
                          ranks=SHAPES[mpi.name][0], settings={
                              "ranks_per_host": str(SHAPES[mpi.name][1]), "allreduce": "direct",
                              "allgather": "ring", "barrier": "dissemination"}))
    ours, natively = calls_of(classes_of(finished, "allreduce"))
    assert ours > 0 and natively > 0
