// What ranks tell each other once, and what all of them know from it: who shares a host, and whether anything
// stands against mutirao.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/endpoint.h"
#include "agent/key.h"
#include "core/network/placement.h"
#include "core/settings/settings.h"
#include "mpi/base/environment.h"

namespace mutirao::mpi {

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Of a communicator; freed with this.
class Group {
  public:
    explicit Group(MPI_Comm comm) { PMPI_Comm_group(comm, &group_); }
    ~Group() { PMPI_Group_free(&group_); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    operator MPI_Group() const { return group_; }

  private:
    MPI_Group group_ = MPI_GROUP_NULL;
};

/// What one rank says. Plain values without gaps; the hosts of one job have one order of bytes. Its length must stay what it
/// is: ranks may not know yet that they run different versions.
struct Introduction {
    std::uint64_t version = 0;        ///< of mutirao, as a hash
    std::uint64_t settings = 0;       ///< as a hash
    std::uint64_t host_identity = 0;  ///< equal on ranks that share a host
    std::uint64_t enabled = 0;        ///< 1: yes
    std::uint64_t has_agent = 0;      ///< 1: sockets are open for one
    std::uint64_t daemon_job = 0;     ///< of the standing agent on this host; 0: there is none
    std::int64_t daemon_host = 0;     ///< this host's number for it
    std::int64_t processors = 0;      ///< of this host
    SocketLimits sockets;
    agent::Contact contact;
    agent::Key key;  ///< of the rank's own making; rank 0's is used
    std::array<char, 56> host_name{};  ///< up to the first zero
};

/// Of this rank, but for the agent's part.
Introduction introduce(const Settings& settings, std::uint64_t settings_hash, int my_rank);

/// Ranks that know each other, and their hosts. Hosts are numbered by their lowest rank; that rank leads the host.
struct World {
    /// Every host measures every link, so that more of them would never come to an end.
    static constexpr int most_hosts = 64;

    int my_rank = 0;
    std::shared_ptr<const Placement> placement;
    std::vector<std::string> host_names;
    std::vector<std::int64_t> processors_of_host;
    /// Why all calls of these ranks go to the MPI library; empty: they need not.
    std::string native_reason;
    bool at_odds = false;  ///< because the ranks do not agree
    SocketLimits sockets;  ///< the least of all hosts'
    /// By which number what measures the network knows each host.
    std::vector<int> source_host;
    bool has_daemons = false;  ///< standing agents of one group measure

    int rank_count() const { return placement ? placement->rank_count() : 0; }
    int host_count() const { return placement ? placement->host_count() : 0; }
    int my_host() const { return placement->host_of(my_rank); }
    /// It has more of the job's ranks than processors.
    bool is_crowded(int host) const {
        return static_cast<std::int64_t>(placement->ranks_of(host).size()) >
               processors_of_host[static_cast<std::size_t>(host)];
    }
    int leader_of(int host) const { return placement->ranks_of(host).front(); }
    bool leads(int rank) const { return placement->position_of(rank) == 0; }
};

/// "4 ranks on 2 hosts (node1, node2)".
std::string extent_of(const World& world);

/// Equal on all ranks but for my_rank.
World world_of(const std::vector<Introduction>& introductions, int my_rank);

/// The ranks of a communicator that are part of a larger world. Their hosts keep the order that they have there.
struct Members : World {
    std::vector<int> twin_rank_of;  ///< by rank: what it is in the larger world, once that has a twin
};

/// `ranks`: those of `whole`.
Members part_of(const World& whole, std::vector<int> ranks, int my_rank);

/// By rank of `group`, their ranks in `among`; MPI_UNDEFINED where they have none.
std::vector<int> ranks_in(MPI_Group group, MPI_Group among);
bool holds(MPI_Group all, MPI_Group some);

/// Of a communicator whose ranks are all in `world_group`.
Members members_of(MPI_Comm comm, MPI_Group world_group, const World& world);

}  // namespace mutirao::mpi
