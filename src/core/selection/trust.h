// Where predictions are good enough to leave the MPI library's own algorithms by them alone. Elsewhere probes
// decide (decider.h), or nobody.
#pragma once

#include <string>

#include "core/collectives/collective.h"
#include "core/network/network.h"

namespace mutirao {

/// Why not on that network, in a few words; empty: they are.
std::string distrust(Collective collective, const Network& network);

}  // namespace mutirao
