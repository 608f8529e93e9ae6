// An algorithm over hosts with several ranks, composed of what the catalogue has: the algorithm
// between the hosts' leaders, then Parameters::inside on each host's ranks from its leader. Two
// levels of ranks therefore need no file of their own for any algorithm, and data flow from one
// level into the next as their bytes allow (Schedule::append).
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/collectives/call_shape.h"
#include "core/network/placement.h"

namespace mutirao {

/// One rank's part of a candidate that is not native. `tree`: over the hosts, hung from the root's;
/// null if the algorithm takes none. Takes time for the rank's own steps, whatever the number of
/// ranks and hosts.
Schedule compose(const Candidate& candidate, const CallShape& shape, const Placement& placement,
                 const Tree* tree, int rank);

}  // namespace mutirao
