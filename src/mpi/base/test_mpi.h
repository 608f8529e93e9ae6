// The MPI library in unit tests: this process is all ranks, and sends to itself. And ranks of which only what they say of
// themselves is there.
#pragma once

#include <mpi.h>

#include <cstdlib>
#include <vector>

#include "mpi/base/world.h"

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

/// So many ranks on each host, one host after another.
inline World world_with(int hosts, int ranks_per_host) {
    std::vector<Introduction> all(static_cast<std::size_t>(hosts * ranks_per_host));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank].host_identity = rank / static_cast<std::size_t>(ranks_per_host);
        all[rank].enabled = 1;
    }
    return world_of(all, 0);
}

}  // namespace mutirao::mpi::test
