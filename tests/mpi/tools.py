"""Tools that stand before or behind mutirao: libraries that are preloaded, made of a few lines of C."""

import shutil
import subprocess

import pytest

# Says at the end how many broadcasts it saw.
COUNTING = """
#include <mpi.h>
#include <stdio.h>
static int calls;
int MPI_Bcast(void* b, int n, MPI_Datatype t, int r, MPI_Comm c) { ++calls; return PMPI_Bcast(b, n, t, r, c); }
int MPI_Finalize(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("tool saw %d\\n", calls);
    return PMPI_Finalize();
}
"""

_SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>
int P{function}({parameters}) {{
    static int (*next)({parameters});
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "P{function}");
    usleep({delay_us});
    const int result = next({arguments});
    {afterwards}
    return result;
}}
int {function}({parameters}) {{ return P{function}({arguments}); }}
"""

# Type and name of each parameter.
_PARAMETERS = {
    "MPI_Allgather": [("const void*", "from"), ("int", "count"), ("MPI_Datatype", "type"), ("void*", "to"),
                      ("int", "to_count"), ("MPI_Datatype", "to_type"), ("MPI_Comm", "comm")],
    "MPI_Allreduce": [("const void*", "from"), ("void*", "to"), ("int", "count"), ("MPI_Datatype", "type"),
                      ("MPI_Op", "op"), ("MPI_Comm", "comm")]}


def compiled_tool(mpi, source, folder):
    path = folder / "tool.c"
    path.write_text(source)
    subprocess.run([mpi.wrapper, "-shared", "-fPIC", "-w", path, "-o", path.with_suffix(".so")], check=True)
    return path.with_suffix(".so")


def compiled_fortran(mpi, source, folder):
    """The program's path; skips where there is no Fortran."""
    compiler = shutil.which(str(mpi.wrapper).replace("mpicc", "mpifort"))
    if mpi.known.environment or compiler is None:
        pytest.skip(f"{mpi.name} comes without Fortran modules")
    return compiled(compiler, source, folder)


def compiled(compiler, source, folder, *more):
    program = folder / source.stem
    subprocess.run([compiler, "-O2", source, "-o", program, *more], cwd=folder, check=True)
    return str(program)


def slow_native(mpi, function, delay_us, folder, afterwards=""):
    """Makes a function of the MPI library slow, so that whatever else runs is faster; to be preloaded after
    mutirao's. `afterwards` are statements in C, at each call's end."""
    parameters = _PARAMETERS[function]
    return compiled_tool(mpi, _SLOW.format(
        function=function, delay_us=delay_us, afterwards=afterwards, parameters=", ".join(map(" ".join, parameters)),
        arguments=", ".join(name for _, name in parameters)), folder)
