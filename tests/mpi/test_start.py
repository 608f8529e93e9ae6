"""What is set up when: nothing in MPI_Init, nothing for a few calls, and in time for many (docs/architecture.md)."""

import pytest

from ends import calls_of, decided_calls, ended_well

pytestmark = pytest.mark.on_any_mpi

# Each rank as a host of its own; with a forced algorithm it always pays.
FORCED = {"ranks_per_host": "1", "start": "beside", "allreduce": "recursive_doubling", "profile": "off"}


def ended(run, program, *words, ranks=3, **settings):
    """What was set up, and what became of MPI_COMM_WORLD."""
    finished = ended_well(run(program, *words, ranks=ranks, settings={**FORCED, **settings}))
    return finished, finished.report["start"], finished.report["communicators"][0]


@pytest.mark.parametrize("repeat, ruled", [(5, False), (150, True)])
def test_a_few_calls_set_nothing_up(run, repeat, ruled):
    finished, start, world = ended(run, "collective", "allreduce", "--repeat", repeat)
    assert world["state"] == ("mutirao" if ruled else "not yet"), world
    assert (decided_calls(finished) > 0) == ruled
    assert (start["twin_ms"] > 0) == ruled and start["waited_ms"] == 0
    assert calls_of(world)[1] > 0 and (world["first_ruled_call"] >= 8 if ruled else
                                       start["agreed_ms"] == start["introduced_ms"] == 0)


def test_switched_off_everywhere_nobody_is_asked(run):
    finished = run("collective", "allreduce", "--repeat", 150, ranks=3, settings={**FORCED, "enabled": "off"})
    assert finished.returncode == 0 and finished.report["start"]["native_reason"] == "switched off"


def test_what_does_not_pay_is_not_set_up(run):
    """Nobody measures, so nothing is predicted to be won."""
    _, start, world = ended(run, "collective", "allreduce", "--repeat", 150, allreduce="auto", agent="off")
    assert world["state"] == "not yet" and world["hosts"] == 3 and start["twin_ms"] == 0


def test_of_a_root_that_only_runs_ahead_nothing_is_known(run):
    """Broadcasts say nothing of how far the others are behind, so nothing is begun until much time went by."""
    _, start, _ = ended(run, "collective", "broadcast", "--repeat", 60, allreduce="auto")
    assert start["agreed_ms"] == start["introduced_ms"] == start["twin_ms"] == 0


def test_a_root_waits_for_no_vote(run):
    if run("out_of_step", "root_ahead", ranks=3, native=True).returncode != 0:
        pytest.skip("in this MPI's own broadcasts roots wait")
    ended(run, "out_of_step", "root_ahead", start="soon", allreduce="auto")


@pytest.mark.parametrize("ranks_per_host", [1, 4])
def test_edges_are_connected_ahead(run, mpi, ranks_per_host):
    """Each once, between hosts, by Open MPI; MPICH would hold the sender."""
    ahead = mpi.name.startswith("openmpi") and ranks_per_host == 1
    finished, *_ = ended(run, "ahead", "edges" if ahead else "no_edges", ranks=4, start="wait", ranks_per_host=str(ranks_per_host),
                         trials="off", gather="linear")
    assert decided_calls(finished) == 3


def test_what_is_pending_meanwhile_stays_the_programs(run):
    _, start, world = ended(run, "sums", "pending_meanwhile")
    assert start["twin_ms"] > 0 and world["state"] == "mutirao"


def test_without_a_communicator_left_all_stays_native(run):
    finished, _, world = ended(run, "sums", "no_more_communicators", ranks=2)
    if "ok none left" in finished.lines:
        assert world["state"] == "native" and "makes no more communicators" in world["reason"]
    else:
        assert world["state"] == "mutirao"


def test_ranks_wait_for_each_other_in_finalize_where_the_library_does_not(run, mpi):
    """Open MPI's MPI_Finalize waits for all ranks itself, but by UCX it must not meet messages that nobody received."""
    finished, start, _ = ended(run, "sums", "farewell")
    assert start["twin_ms"] > 0
    assert finished.lines[-1] == ("ok 0" if mpi.name.startswith("openmpi") else "ok 1")
