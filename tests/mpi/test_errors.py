"""Errors inside a broadcast: the program learns what it would natively, through its own handler, and
goes on; nothing is written into its memory later."""

import pytest

from ends import FORCED, decided_calls, ends_as_natively, passed, ruled_collectives, settings_of, start_modes

# In one piece: where the number of messages depends on the length, ranks whose lengths differ cannot
# know of each other's.
# Among so few ranks flat exchanges the messages of binomial.
ALGORITHMS = ["native", "binomial", pytest.param("flat", marks=pytest.mark.long)]

# Messages so long that these MPI libraries hang by themselves when a receiver takes only half.
HANGS_NATIVELY = {("mpich-5", 10000)}


def as_natively(line, native):
    """MPICH 5 calls some truncated messages 'other' errors; the better name is as good."""
    pairs = list(zip(line.split(), native.split(), strict=True))
    return all(mine == its or (mine, its) == ("truncated", "other") for mine, its in pairs)


@pytest.mark.parametrize("broadcast", ALGORITHMS)
@pytest.mark.parametrize("use, ints", [
    ("too_long_message", 1000), ("too_long_message_with_gaps", 1000), ("too_long_message", 10000)])
def test_a_message_longer_than_its_receivers_take(run, mpi, broadcast, use, ints):
    if (mpi.name, ints) in HANGS_NATIVELY:
        pytest.skip("this MPI by itself hangs in it")
    if mpi.name == "mpich-4" and broadcast != "native":
        pytest.skip("MPICH 4 raises the errors of MPI_Test on MPI_COMM_WORLD, whatever the request")
    native, ours = ends_as_natively(run, "errors", use, ints, same_output=False,
                                    settings=settings_of("wait", broadcast=broadcast))
    assert len(ours.lines) == len(native.lines)
    for mine, its in zip(ours.lines, native.lines):
        assert as_natively(mine, its), ours.lines


@pytest.mark.parametrize("forced", [{}, FORCED], ids=["chosen freely", "forced"])
def test_wrong_arguments_of_every_collective(run, wheels_only, forced):
    """Lines of native answers, compared word for word; the right calls between them check that no rank
    was left with another count of calls than the others. By the latencies between these processes nothing
    may be worth while, so that what is chosen freely may be native."""
    _, ours = ends_as_natively(run, "wrong_collectives", settings=settings_of("wait", **forced))
    assert ruled_collectives(ours) == set(FORCED)
    assert decided_calls(ours) > 0 or not forced


@start_modes
def test_a_handler_that_jumps_out_of_the_call(run, start):
    _, ours = ends_as_natively(run, "errors", "longjmp_handler",
                               settings=settings_of(start, broadcast="binomial"))
    assert decided_calls(ours) > 0


@start_modes
def test_a_revoked_communicator_leaves_nobody_waiting(run, mpi, monkeypatch, start):
    if mpi.name != "openmpi-5":
        pytest.skip("only Open MPI 5 can be told to revoke without its launcher's help")
    monkeypatch.setenv("OMPI_MCA_mpi_ft_enable", "1")
    passed(run("errors", "revoked", ranks=3, native=True))
    ours = passed(run("errors", "revoked", ranks=3, settings=settings_of(start)))
    assert {each["state"] for each in ours.report["communicators"]} <= {"native"}
    assert "fault" in ours.report["start"]["native_reason"]
