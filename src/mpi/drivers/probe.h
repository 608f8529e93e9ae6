// Measures the round trip to every other host by MPI messages, all pairs at once, and makes both
// ends of each link agree on it. A host that does not answer in time counts as unreachable over
// that link; nobody waits for it again.
#pragma once

#include <vector>

#include "mpi/drivers/mailbox.h"

namespace mutirao::mpi {

struct ProbeOptions {
    int count = 3;          ///< round trips per link, more over short ones; the least counts
    int timeout_ms = 5000;  ///< for all of them together
};

/// One-way latency in us to every host (0 to itself, infinite where the link is unusable): half
/// the larger of the two round trips that the ends measured.
std::vector<double> probe_links(Mailbox& mailbox, const ProbeOptions& options);

}  // namespace mutirao::mpi
