"""A tool behind mutirao that makes a function of the MPI library slow: then whatever else runs is faster."""

import subprocess

TOOL = """
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
PARAMETERS = {
    "MPI_Allgather": [("const void*", "from"), ("int", "count"), ("MPI_Datatype", "type"), ("void*", "to"),
                      ("int", "to_count"), ("MPI_Datatype", "to_type"), ("MPI_Comm", "comm")],
    "MPI_Allreduce": [("const void*", "from"), ("void*", "to"), ("int", "count"), ("MPI_Datatype", "type"),
                      ("MPI_Op", "op"), ("MPI_Comm", "comm")]}


def slow_native(mpi, function, delay_us, folder, afterwards=""):
    """The tool's library, to be preloaded after mutirao's; `afterwards` are statements in C, at each call's end."""
    parameters = PARAMETERS[function]
    source, library = folder / "slow.c", folder / "slow.so"
    source.write_text(TOOL.format(function=function, delay_us=delay_us, afterwards=afterwards,
                                  parameters=", ".join(map(" ".join, parameters)),
                                  arguments=", ".join(name for _, name in parameters)))
    subprocess.run([mpi.wrapper, "-shared", "-fPIC", source, "-o", library], check=True)
    return library
