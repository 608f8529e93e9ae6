// The broadcasts that split the message into as many shares as the largest group has ranks.
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/network/placement.h"

namespace mutirao::broadcast {

/// The root hands each share to the rank of its own group that speaks for the share's lane. From
/// there it goes down a k-nomial tree of `radix` over the groups, from speaker to speaker, and each
/// of these passes it on to its whole group.
Schedule over_lanes(const Request& request, const Placement& groups, int radix);

}  // namespace mutirao::broadcast
