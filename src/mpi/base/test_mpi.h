// The MPI library in unit tests: this process is all ranks, and sends to itself.
#pragma once

#include <mpi.h>

#include <cstdlib>

namespace mutirao::mpi::test {

/// Begun by whichever test comes first, ended with the process. Errors are returned.
inline MPI_Comm communicator_of_one() {
    static const MPI_Comm comm = [] {
        MPI_Init(nullptr, nullptr);
        std::atexit([] { MPI_Finalize(); });
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_SELF, &made);
        MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
        return made;
    }();
    return comm;
}

}  // namespace mutirao::mpi::test
