"""A program must end the same with and without mutirao: what the tests of unusual programs share."""

import re

import pytest

from mutirao.run.launch import launch

# Of the setting `start`: with "soon" programs run into the rulings, with "wait" all is ruled.
STARTS = ["soon", "wait"]
start_modes = pytest.mark.parametrize("start", STARTS)
# One algorithm of every collective, which none of these MPI libraries would take.
FORCED = {"barrier": "direct", "broadcast": "binomial", "gather": "linear", "scatter": "linear",
          "allgather": "ring", "alltoall": "pairwise", "reduce": "k_nomial", "allreduce": "direct",
          "reduce_scatter_block": "direct", "scan": "linear", "exscan": "linear",
          "gatherv": "linear", "scatterv": "linear", "allgatherv": "ring", "alltoallv": "pairwise",
          "alltoallw": "linear", "reduce_scatter": "ring"}
# What is forced from the first call on, and what is chosen while the program runs.
start_and_broadcast = pytest.mark.parametrize("start, broadcast", [
    ("soon", "auto"), ("wait", "chain:segment_bytes=512"),
    pytest.param("wait", "auto", marks=pytest.mark.long),
    pytest.param("soon", "chain:segment_bytes=512", marks=pytest.mark.long)])


def settings_of(start, **settings):
    """Each rank as a host of its own, so that nothing is left to the MPI library by itself."""
    return {"ranks_per_host": "1", "start": start, **settings}


def ended_well(finished):
    assert finished.returncode == 0, finished.errors
    return finished


def run_in(lab, mpi, program, *words, ranks=None, **options):
    """Ends well, on all hosts of the lab."""
    return ended_well(launch(mpi, [str(mpi.program(program)), *map(str, words)], ranks or lab.network.host_count, lab=lab,
                             capture=True, timeout_s=100, **options))


def world_of(finished):
    """What is reported of MPI_COMM_WORLD, whose program ended well."""
    return ended_well(finished).report["communicators"][0]


def passed(finished):
    assert ended_well(finished).lines[-1].startswith("ok"), finished.lines
    return finished


def silent_world_of(finished):
    """The same of one whose program has checked itself; nothing is printed unless asked."""
    assert passed(finished).errors == ""
    return world_of(finished)


def ends_as_natively(run, program, *words, settings, ranks=3, same_output=True, paired=False):
    """Runs the program both ways and returns both ends, the native one first, which is an earlier
    test's if there was one; `paired`: of its own. Skips where the program cannot do with this MPI what it is for."""
    how = {"native": True} if paired else {"once": True}
    native = passed(run(program, *words, ranks=ranks, **how))
    ours = passed(run(program, *words, ranks=ranks, settings=settings))
    if same_output:
        assert ours.lines == native.lines
    assert ours.errors == "" or native.errors, ours.errors  # nothing is printed unless asked
    if why_not := re.fullmatch(r"ok skipped: (.*)", native.lines[-1]):
        pytest.skip(why_not[1])
    return native, ours


def calls_of(world):
    """How many of a communicator's calls ran by an algorithm of ours, and how many natively."""
    return (sum(ruling["calls"] + ruling["probe_calls"] for each in world["classes"] for ruling in each["rulings"]),
            sum(each["native_calls"] for each in world["classes"]))


def chosen_in(world):
    return {ruling["chosen"] for each in world["classes"] for ruling in each["rulings"]}


def decided_calls(finished):
    return sum(calls_of(each)[0] for each in (finished.report or {}).get("communicators", ()))


def ruled_collectives(finished):
    """Those for which something was chosen, which may be the MPI library's own."""
    return {each["collective"] for world in (finished.report or {}).get("communicators", ())
            for each in world["classes"] if each.get("rulings") or each.get("native_choice")}


def lines_of_ours(finished):
    return [line for line in finished.errors.splitlines() if line.startswith("mutirao:")]
