// An algorithm over hosts with several ranks, composed of what the catalogue has: the algorithm
// between the hosts' leaders, then Parameters::inside on each host's ranks from its leader. Two
// levels of ranks therefore need no file of their own for any algorithm, and data flow from one
// level into the next as their bytes allow (Schedule::append). An algorithm whose participants are all
// ranks (Level::ranks) runs as it is; if it takes a tree, that goes on inside the hosts.
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/collectives/call_shape.h"
#include "core/network/placement.h"

namespace mutirao {

/// `hosts`, with every host's other ranks hung below its leader, the root's host's below the root: as a
/// binomial tree, and served after the other hosts.
Tree tree_over_ranks(const Tree& hosts, const Placement& placement, int root);

/// One rank's part of a candidate that is not native. `tree`: over the hosts, hung from the root's;
/// null if the algorithm takes none. Where participants are hosts it takes time for the rank's own steps,
/// whatever the number of ranks and hosts.
Schedule compose(const Candidate& candidate, const CallShape& shape, const Placement& placement,
                 const Tree* tree, int rank);

}  // namespace mutirao
