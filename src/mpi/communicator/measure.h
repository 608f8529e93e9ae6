// Measures the network between the hosts of a communicator and builds its spanning tree.
#pragma once

#include <mpi.h>

#include "core/settings/settings.h"
#include "mpi/communicator/hosts.h"
#include "mpi/communicator/record.h"

namespace mutirao::mpi {

struct Measured {
    Topology topology;          ///< without a tree if some hosts cannot be reached
    std::uint64_t id = 0;       ///< equal on all ranks, different from any other measurement's
    /// The communicator may hold messages that nobody will receive, and must not be freed: MPICH
    /// aborts on that.
    bool letters_left = false;
    SetupCost cost;
};

/// Collective over `comm`, whose hosts are known. All ranks return the same but for the cost.
Measured measure(MPI_Comm comm, const Hosts& hosts, const Settings& settings);

}  // namespace mutirao::mpi
