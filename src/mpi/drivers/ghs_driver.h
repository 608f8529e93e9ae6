// Carries the messages of the distributed spanning tree algorithm over MPI point-to-point.
#pragma once

#include <vector>

#include "mpi/drivers/mailbox.h"

namespace mutirao::mpi {

struct TreePart {
    std::vector<int> branches;  ///< hosts across tree links, ascending
    int hosts_in_tree = 0;      ///< fewer than asked for: some cannot be reached
    long messages_sent = 0;     ///< by this host
};

/// latency_us[h] is the agreed latency to host h; infinite ones are no links.
TreePart build_spanning_tree(Mailbox& mailbox, const std::vector<double>& latency_us);

}  // namespace mutirao::mpi
