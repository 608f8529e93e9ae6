// Which ranks of a communicator share a host, and what they agree on before anything else.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/text/hash.h"

namespace mutirao::mpi {

/// Hosts are numbered by their lowest rank; that rank is the host's leader.
struct Hosts {
    std::vector<int> host_of_rank;
    std::vector<int> leader_of_host;       ///< rank in the communicator
    MPI_Comm host_comm = MPI_COMM_NULL;  ///< the ranks of this host in order; null: only this one
    std::vector<int> local_rank_of_rank;   ///< place among the ranks of its host
    int my_rank = 0;

    int count() const { return static_cast<int>(leader_of_host.size()); }
    int my_host() const { return host_of_rank[static_cast<std::size_t>(my_rank)]; }
    bool leading() const {
        return leader_of_host[static_cast<std::size_t>(my_host())] == my_rank;
    }
    /// The rank that speaks for `host` in a broadcast from `root`: the root for its own host.
    int speaker(int host, int root) const {
        return host_of_rank[static_cast<std::size_t>(root)] == host
                   ? root
                   : leader_of_host[static_cast<std::size_t>(host)];
    }
};

/// What every rank tells every other at set-up.
struct Introduction {
    std::uint64_t settings_hash = 0;
    std::uint64_t universe_id = 0;  ///< 0: has measured no network yet
    std::int64_t universe_host = 0;
    std::uint64_t warm_id = 0;      ///< 0: no agent that was there before the job
    std::int64_t warm_host = 0;
    double socket_buffer_bytes = 0;
    std::uint64_t host_identity = 0;
};

/// All ranks said the same there.
bool all_alike(const std::vector<Introduction>& introductions, std::uint64_t Introduction::*field);

/// Collective over `comm`: one allgather, from which every rank knows who shares a host: ranks under
/// the same kernel and host name or, with ranks_per_host > 0, so many consecutive ranks.
/// introductions[r] is what rank r said. Returns an MPI error code.
int introduce_ranks(MPI_Comm comm, int ranks_per_host, Introduction mine, Hosts& hosts,
                    std::vector<Introduction>& introductions);

/// Collective over the ranks of this host: makes hosts.host_comm, unless this rank is alone there.
int make_host_communicator(MPI_Comm comm, Hosts& hosts);

}  // namespace mutirao::mpi
