"""On one host predictions are no reason to leave the MPI library, so calls take turns and what they take
decides. The truth here is a tool behind mutirao that makes the MPI library's own function slow."""

import subprocess

import pytest

from ends import calls_of, passed
from noise import in_time

SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>
int PMPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm) {
    static int (*next)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Allgather");
    usleep(DELAY_US);
    return next(from, count, type, to, to_count, to_type, comm);
}
int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
    return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
}
"""


@pytest.fixture
def slow(mpi, tmp_path):
    (tmp_path / "slow.c").write_text(SLOW)
    library = tmp_path / "slow.so"
    subprocess.run([mpi.wrapper, "-DDELAY_US=300", "-shared", "-fPIC", "slow.c", "-o", library],
                   cwd=tmp_path, check=True)
    return library


def last_ruling(finished, collective):
    world = finished.report["communicators"][0]
    rows = [row for row in world["classes"] if row["collective"] == collective]
    return max((row["rulings"][-1] for row in rows if row["rulings"]),
               key=lambda ruling: ruling["first_call"], default=None)


def test_leaves_the_mpi_library_where_that_is_slower(run, mpi, slow):
    def trial():
        program = ["env", f"LD_PRELOAD={mpi.preload}:{slow}", str(mpi.program("collective")),
                   "allgather", "--bytes", "1024", "--consecutive", "6000"]
        finished = run(program, "--repeat", 1, ranks=2)
        assert finished.returncode == 0, finished.errors
        ours, natively = calls_of(finished.report["communicators"][0])
        assert natively > 0
        ruling = last_ruling(finished, "allgather")
        settled = ruling and "measured" in ruling["reason"] and "native" not in ruling["chosen"]
        return None if settled and ours > natively else (ours, natively, ruling)

    in_time(trial)


def test_keeps_to_it_where_nothing_is_better_for_it(run, mpi):
    """Whoever wins, each of them ran, and what it took is told."""
    def trial():
        finished = run("collective", "barrier", "--consecutive", 200_000, "--repeat", 1, ranks=2)
        assert finished.returncode == 0, finished.errors
        ours, natively = calls_of(finished.report["communicators"][0])
        assert natively > 0
        ruling = last_ruling(finished, "barrier")
        return None if ours > 0 and ruling and "measured" in ruling["reason"] else ruling

    in_time(trial)


# Five take long where MPI libraries spin while they wait.
@pytest.mark.parametrize("ranks", [3, pytest.param(5, marks=pytest.mark.long)])
def test_results_are_right_meanwhile(run, wheels_only, ranks):
    passed(run("collectives_check", *["allreduce", "allgather", "barrier", "reduce", "alltoall"] * 4,
               ranks=ranks))
