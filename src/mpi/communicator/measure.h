// Measures the network between the hosts of a communicator and builds its spanning tree.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "agent/endpoint.h"
#include "core/settings/settings.h"
#include "mpi/communicator/host_row.h"
#include "mpi/communicator/hosts.h"
#include "mpi/communicator/record.h"

namespace mutirao::mpi {

struct Measured {
    Topology topology;          ///< latencies alone; without a tree if some hosts cannot be reached
    std::uint64_t id = 0;       ///< equal on all ranks, different from any other measurement's
    /// The communicator may hold messages that nobody will receive, and must not be freed: MPICH
    /// aborts on that.
    bool letters_left = false;
    SetupCost cost;
    std::vector<HostRow> rows;  ///< what the hosts told each other; empty without a tree
    std::optional<agent::Endpoint> endpoint;  ///< on leaders, if asked for and to be had
};

/// What the MPI library and the settings make of a network of latencies, so that it can be
/// predicted on: transport, host costs, sites.
void complete_network(Topology& topology, const Settings& settings, double socket_buffer_bytes);

/// What the kernel takes from a sender at once, whatever the network: the middle value of tcp_wmem
/// is a new socket's buffer, about half of which is payload (tcp(7)). 0 where that cannot be told.
double socket_buffer_bytes();

/// Collective over `comm`, whose hosts are known. All ranks return the same but for the cost and the
/// endpoint, which is opened on leaders for an agent to come if `with_endpoint`.
Measured measure(MPI_Comm comm, const Hosts& hosts, const Settings& settings, bool with_endpoint);

}  // namespace mutirao::mpi
