// Which sends a rank need not wait for. Where the MPI library completes a send only when it has been
// acknowledged, a rank that has nothing more to do would wait a round trip for nothing; it may leave
// and let the MPI library finish from a copy. One rule, for the executor and for the predictor.
#pragma once

#include <vector>

#include "core/network/network.h"
#include "core/network/placement.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// Per step: true for the last sends to each peer that together hold at most detached_bytes, if the
/// transport acknowledges messages of their length and asks no consent before them. None inside a host:
/// what shared memory has no room for waits for the sender's next call.
std::vector<bool> detached_sends(const Schedule& schedule, const Transport& transport,
                                 const Placement& placement, int rank);

}  // namespace mutirao
