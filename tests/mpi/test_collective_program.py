"""bench/collective.c: every collective gives one line per length and root, and wrong results fail."""

import json

import pytest

from ends import ended_well
from mutirao.catalogue.collectives import COLLECTIVES
from shared import in_time
from tools import compiled_tool

pytestmark = pytest.mark.on_any_mpi  # natively: the program is the benchmark's

# Changes what arrives at one rank.
SPOILING_TOOL = """
#include <mpi.h>
int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const int result = PMPI_Scan(in, out, count, type, op, comm);
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 1) ((char*)out)[count - 1] ^= 1;
    return result;
}
"""


def told(run, *words, ranks):
    """What the program prints natively."""
    return [json.loads(line) for line in ended_well(run(*words, ranks=ranks, native=True)).lines]


@pytest.mark.parametrize("collective", COLLECTIVES.values(), ids=COLLECTIVES)
def test_a_line_for_each_length_and_root(run, collective):
    lengths = [24, 1001] if collective.has_length else [0]
    roots = [0, 2] if collective.rooted else [0]
    found = told(run, "collective", collective.name, "--bytes", ",".join(map(str, lengths)), "--roots",
                 ",".join(map(str, roots)), "--repeat", 3, ranks=3)
    assert [(each["collective"], each["root"], each["bytes"]) for each in found] == [
        (collective.name, root, length) for root in roots for length in lengths]
    assert all(len(each["completion_ms"]) == 3 and min(each["completion_ms"]) >= 0 for each in found)


@pytest.mark.parametrize("collective, root", [("reduce", 1), ("allreduce", 0)])
def test_calls_that_go_before_are_counted(run, collective, root):
    [line] = told(run, "collective", collective, "--bytes", "8", "--roots", root, "--repeat", 3,
                  "--settle-calls", 50, "--consecutive", 2, ranks=2)
    assert sum(calls for calls, _ms in line["settling"]) >= 50 and line["settling"][0][0] == 1
    assert all(ms > 0 for _calls, ms in line["settling"])


def test_late_ranks_are_part_of_what_is_measured(run):
    """Three calls, to each of which one rank comes 20 ms late."""
    [line] = told(run, "collective", "barrier", "--consecutive", 3, "--late-us", 20_000, "--repeat", 1, ranks=2)
    # The first may be late before the last one has begun.
    assert line["completion_ms"][0] >= 40


def test_as_many_calls_as_take_half_a_millisecond(run, wheels_only):
    """A tenth of 5 ms. Catches a batch that is settled on while it is short, be it since the first call of all
    took longer than that. Those of MPICH 4 do where other programs run, too."""

    def trial():
        [line] = told(run, "collective", "barrier", "--consecutive", 0, "--repeat", 2, ranks=2)
        last_calls = line["settling"][-1][0]
        least_ms = min(ms / calls for calls, ms in line["settling"])
        assert line["consecutive"] == max(1, last_calls // 10)
        if last_calls == 1:
            assert len(line["settling"]) > 1
            return "the first calls took all of the batch's time"
        assert last_calls * least_ms >= 5 > last_calls / 2 * least_ms
        return None

    in_time(trial)


def test_wrong_results_fail(run, mpi, tmp_path):
    tool = compiled_tool(mpi, SPOILING_TOOL, tmp_path)
    program = ["env", f"LD_PRELOAD={tool}", str(mpi.program("collective")), "scan", "--bytes", "7"]

    def trial():
        finished = run(program, ranks=2, native=True)
        assert finished.returncode != 0
        # Launchers may lose what an aborted rank has just written.
        return None if "rank 1 received wrong bytes" in finished.errors else finished.errors

    in_time(trial)


@pytest.mark.parametrize("program, words, named", [
    ("collective", ["scann"], "scann"), ("collective", ["scan", "--roots", "1"], "wrong value 1"),
    ("collective", ["barrier", "--bytes", "8"], "wrong value 8"),
    ("loop", [300, "random", "brodcast:24"], "unknown collective brodcast"),
    ("loop", [9, "computes:5"], "unknown collective computes")])
def test_wrong_words(run, program, words, named):
    finished = run(program, *words, ranks=2, native=True)
    assert finished.returncode != 0 and finished.lines == [] and named in finished.errors


def test_a_mix_of_calls(run):
    kinds = ["barrier:0", "broadcast:24", "allreduce:8", "alltoallw:100", "exscan:7"]
    [line] = told(run, "loop", 300, "random", *kinds, ranks=3)
    assert line["steps"] == 300 and line["seconds"] > 0


def test_a_loop(run):
    items = ["compute:5", "allreduce:4000", "broadcast:24", "alltoall:100", "barrier:0"]
    [line] = told(run, "loop", 9, *items, ranks=3)
    assert line["steps"] == 9 and line["seconds"] >= 9 * 0.005
    assert len(line["quarter_seconds"]) == 4
    assert sum(line["quarter_seconds"]) == pytest.approx(line["seconds"], abs=1e-5)
