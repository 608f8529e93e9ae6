// From what an agent sees of the whole job to the network of one communicator's hosts.
#pragma once

#include <optional>
#include <vector>

#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "core/spanning_tree/rounds.h"
#include "mpi/base/socket_limits.h"

namespace mutirao::mpi {

/// hosts[h]: the view's number of the communicator's host h. Nothing if the host that looks, which
/// the view calls `here`, reaches nobody itself.
std::optional<Topology> topology_of(const NetworkView& view, const std::vector<int>& hosts, int here);

/// Every link between those hosts has been measured.
bool all_known(const Topology& topology);

/// What copies and reductions cost on that host of the view, as far as its agent has measured.
MemoryCosts memory_costs_of(const NetworkView& view, int host);

/// How this rank's MPI library carries messages.
Transport transport_of(const Settings& settings, const SocketLimits& sockets);

/// What the MPI library and the settings make of a network of latencies, so that it can be
/// predicted on: transport, host costs, sites.
void complete_network(Topology& topology, const Settings& settings, const SocketLimits& sockets);

}  // namespace mutirao::mpi
