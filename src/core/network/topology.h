// The hosts of a communicator: what lies between them, the spanning tree that is maintained over
// them, and which are near each other. All ranks that use one hold it alike.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/network/network.h"
#include "core/network/tree.h"

namespace mutirao {

struct Topology {
    Network network;
    EdgeList spanning_tree;    ///< as the distributed algorithm left it; empty: there is none
    std::vector<int> site_of;  ///< label per host
    std::vector<int> region_of{};  ///< likewise, of sites near each other; see sites.h

    bool complete() const { return !spanning_tree.empty() || network.host_count() <= 1; }
};

/// Hangs the tree of that kind from the host `root`; nothing where the topology has none.
std::optional<Tree> make_tree(const Topology& topology, TreeKind kind, int root,
                              std::size_t length_bytes);

/// Nothing is everywhere earlier than this after it left `root`: the longest of the shortest paths,
/// by latency. Nothing if a host cannot be reached.
std::optional<double> latency_bound_us(const Network& network, int root);

// What the hosts of one site share when they send to other sites. It cannot be measured directly: that takes
// transfers to several sites at once. But a site is hardly ever connected to each other one by a line of its
// own, so what it shares is taken to be as fast as the fastest way that was measured between it and another.

/// `site_of`: label per host, from 0. Sites from which some way has no known limit have no limit.
Network::Uplinks uplinks_of(const Network& network, const std::vector<int>& site_of);

}  // namespace mutirao
