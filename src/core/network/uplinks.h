// What the hosts of one site share when they send to other sites. It cannot be measured directly: that takes
// transfers to several sites at once. But a site is hardly ever connected to each other one by a line of its
// own, so what it shares is taken to be as fast as the fastest way that was measured between it and another.
#pragma once

#include <vector>

#include "core/network/network.h"

namespace mutirao {

/// `site_of`: label per host, from 0. Sites from which some way has no known limit have no limit.
Network::Uplinks uplinks_of(const Network& network, const std::vector<int>& site_of);

}  // namespace mutirao
