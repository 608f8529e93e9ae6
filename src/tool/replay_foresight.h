// How seldom trees would have to be exchanged by one who knows the future: what a replay's number of
// switches is measured against, since some networks change too fast for any tree to last.
#pragma once

#include <vector>

#include "core/network/network.h"
#include "tool/replay_tracks.h"

namespace mutirao::tool {

/// So many trees, one after the other, are enough for broadcasts within `near_percent` of the bound
/// in every slice (slices in which a host cannot be reached apart). Found greedily, each tree for as
/// long as it lasts, so perhaps not the fewest. Counts latencies only.
int trees_with_foresight(const std::vector<Network>& slices, const Broadcasts& broadcasts,
                         double near_percent);

}  // namespace mutirao::tool
