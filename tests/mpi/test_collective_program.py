"""bench/collective.c: every collective gives one line per length and root, and wrong results fail."""

import json
import subprocess

import pytest

from mutirao.collectives import COLLECTIVES

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


@pytest.mark.parametrize("collective", COLLECTIVES.values(), ids=COLLECTIVES)
def test_a_line_for_each_length_and_root(run, collective):
    lengths = [24, 1001] if collective.has_length else [0]
    roots = [0, 2] if collective.rooted else [0]
    finished = run("collective", collective.name, "--bytes", ",".join(map(str, lengths)), "--roots",
                   ",".join(map(str, roots)), "--repeat", 3, ranks=3, native=True)
    assert finished.returncode == 0, finished.errors
    found = [json.loads(line) for line in finished.lines]
    assert [(each["collective"], each["root"], each["bytes"]) for each in found] == [
        (collective.name, root, length) for root in roots for length in lengths]
    assert all(len(each["completion_ms"]) == 3 and min(each["completion_ms"]) >= 0
               for each in found)


def test_wrong_results_fail(run, mpi, tmp_path):
    (tmp_path / "tool.c").write_text(SPOILING_TOOL)
    tool = tmp_path / "tool.so"
    subprocess.run([mpi.wrapper, "-shared", "-fPIC", "tool.c", "-o", tool], cwd=tmp_path, check=True)
    program = ["env", f"LD_PRELOAD={tool}", str(mpi.program("collective")), "scan", "--bytes", "7"]
    finished = run(program, ranks=2, native=True)
    assert finished.returncode != 0 and "rank 1 received wrong bytes" in finished.errors


@pytest.mark.parametrize("words, named", [
    (["scann"], "scann"), (["scan", "--roots", "1"], "wrong value 1"),
    (["barrier", "--bytes", "8"], "wrong value 8")])
def test_wrong_words(run, words, named):
    finished = run("collective", *words, ranks=2, native=True)
    assert finished.returncode != 0 and finished.lines == [] and named in finished.errors
