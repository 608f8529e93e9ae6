// Carries the messages of one round of tree maintenance over MPI point-to-point.
#pragma once

#include <vector>

#include "core/selection/selection.h"
#include "mpi/drivers/mailbox.h"

namespace mutirao::mpi {

/// A link that is not what it was.
struct ChangedLink {
    int low = -1;
    int high = -1;
    double latency_us = 0;  ///< one way, in both directions; infinite: nothing gets through
};

/// `before` with these links as they are now.
Topology with_changes(Topology before, const std::vector<ChangedLink>& changes);

/// Collective over the leaders: each knows the topology as it was and all that changed since. Returns
/// the tree that is minimal now, the same everywhere.
EdgeList adapt_spanning_tree(Mailbox& mailbox, const Topology& before,
                             const std::vector<ChangedLink>& changes);

}  // namespace mutirao::mpi
