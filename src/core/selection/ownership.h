// Which groups of ranks own how much of a long message that all of them combine.
#pragma once

#include <cstddef>
#include <vector>

#include "core/network/network.h"
#include "core/network/placement.h"

namespace mutirao {

/// How many of owned_parts parts of a message each group should own, so that the last rank has all soon after a pause: all
/// ranks send each owner its part, who sends what comes of them to all, in equal shares between each two ranks of two
/// groups. Connections send ten packets at first and twice as many with each round trip, so those that go far carry
/// less, and both ways about as much.
/// `group_of`: label per host, from 0. Empty for one group and for more than most_owning_groups: all ranks may own as much.
/// Some owned_parts x groups^3 steps.
std::vector<int> owned_by_distance(const Network& network, const Placement& placement, const std::vector<int>& group_of,
                                   std::size_t length_bytes);
inline constexpr std::size_t most_owning_groups = 12;

}  // namespace mutirao
