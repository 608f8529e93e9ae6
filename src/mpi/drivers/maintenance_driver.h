// Carries the messages of one round of tree maintenance over MPI point-to-point.
#pragma once

#include <vector>

#include "core/epochs/network_change.h"
#include "mpi/drivers/mailbox.h"

namespace mutirao::mpi {

/// Collective over the leaders: each knows the topology as it was and all that changed since. Returns
/// the tree that is minimal now, the same everywhere.
EdgeList adapt_spanning_tree(Mailbox& mailbox, const Hosts& hosts, const Topology& before,
                             const std::vector<NetworkChange::Link>& changes);

}  // namespace mutirao::mpi
