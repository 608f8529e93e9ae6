// The MPI library's own versions of the functions that we define in its place.
#pragma once

#include <mpi.h>

namespace mutirao::mpi {

struct Native {
    int (*init)(int*, char***);
    int (*init_thread)(int*, char***, int, int*);
    int (*finalize)();
    int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
#if MPI_VERSION >= 4
    int (*bcast_c)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
#endif
    /// True if the loaded MPI has the binary interface that this library was built for. Otherwise
    /// no handle may be touched: every call must pass through.
    bool right_abi;
};

/// Looked up once, at the first call.
const Native& native();

}  // namespace mutirao::mpi
