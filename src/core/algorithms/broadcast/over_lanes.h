// The broadcasts that split the message into as many shares as the largest group has ranks.
#pragma once

#include <cstddef>
#include <functional>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"
#include "core/network/placement.h"

namespace mutirao::broadcast {

/// Shares of a shorter broadcast are not worth the more messages.
inline constexpr std::size_t least_bytes_of_shares = 4096;

/// A group's place in the tree of one lane, both counted from the root's group.
using PlaceBetween = std::function<TreePlace(int group, int lane)>;

/// The root hands each share to the rank of its own group that speaks for the share's lane. From
/// there it goes down the lane's tree over the groups, from speaker to speaker, and each of these
/// passes it on to its whole group.
Schedule over_lanes(const Request& request, const Placement& groups,
                    const PlaceBetween& place_between);

}  // namespace mutirao::broadcast
