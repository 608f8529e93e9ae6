// What no algorithm can be faster than: the oracle that predictions are held against. The bounds
// follow from what a collective promises and from the predictor's model of a network, never from
// any algorithm.
#pragma once

#include <algorithm>
#include <optional>

#include "core/collectives/collective.h"
#include "core/network/topology.h"

namespace mutirao {

struct Bounds {
    /// The longest of the shortest paths between two hosts of which one must hear of the other, with what a
    /// message costs either side; or, if longer, what it takes until one host can have told so many others, or
    /// heard from them, as it must.
    double latency_us = 0;
    /// The most that the bytes take which must leave or enter some host, or some site by its
    /// uplink, and the way that they have before or after.
    double bandwidth_us = 0;
    /// What must be combined, shared out among all ranks.
    double reduction_us = 0;

    double us() const { return std::max({latency_us, bandwidth_us, reduction_us}); }
};

/// Nothing where some rank's data cannot get to where they are needed. In up to 128 hosts all
/// shortest paths are looked at, in more of them a few: the bounds hold there, too, but are lower.
std::optional<Bounds> lower_bounds(const CallShape& shape, const RankNetwork& network);

/// The same of what is measured alone: what messages cost processors is assumed, and so may be what combining
/// does. What a call took may be held against these.
std::optional<Bounds> measured_lower_bounds(const CallShape& shape, const RankNetwork& network);

}  // namespace mutirao
