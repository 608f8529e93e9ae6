// Which way announcements take.
#pragma once

#include "core/epochs/announcement.h"
#include "core/network/network.h"

namespace mutirao {

/// While nobody knows who is where.
Route route_without_network(int rank_count);

/// The quickest way from the host `here` to every other, but straight to it where that takes at most a
/// tenth of a second longer: whoever hands an announcement on must be inside a call to do so. Straight
/// to all where some cannot be reached at all.
Route quickest_route(const Network& network, int here);

}  // namespace mutirao
