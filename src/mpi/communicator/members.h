// The ranks of a communicator: where they are in the twin, and which of them share a host.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/network/placement.h"
#include "mpi/job/world.h"

namespace mutirao::mpi {

struct Members {
    int my_rank = 0;
    std::vector<int> twin_rank_of;  ///< by rank of the communicator
    // Known once all ranks of the job have introduced themselves; hosts are numbered in the order that
    // they have in the job, so that communicators of the same hosts can share what is known of them.
    std::shared_ptr<const Placement> placement;
    std::vector<int> world_host_of;  ///< by host of the communicator

    int rank_count() const { return static_cast<int>(twin_rank_of.size()); }
    int host_count() const { return placement ? placement->host_count() : 0; }
    void place(const World& world);
};

/// For people, by host of the communicator, once it is placed; where these are very many of the first.
std::vector<std::string> host_names(const Members& members, const World& world);

/// Nothing if some rank is not in `world_group`.
std::optional<Members> members_of(MPI_Comm comm, MPI_Group world_group);

}  // namespace mutirao::mpi
