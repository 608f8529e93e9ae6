// The hosts of a communicator: what lies between them, the spanning tree that is maintained over
// them, and which are near each other. All ranks that use one hold it alike.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/network/network.h"
#include "core/network/placement.h"
#include "core/network/tree.h"

namespace mutirao {

struct Topology {
    Network network;
    EdgeList spanning_tree;    ///< as the distributed algorithm left it; empty: there is none
    std::vector<int> site_of;  ///< label per host
    std::vector<int> region_of{};  ///< likewise, of sites near each other; see sites.h

    bool complete() const { return !spanning_tree.empty() || network.host_count() <= 1; }
};

/// Hangs the tree of that kind from the host `root`; nothing where the topology has none. What sites own is left open; see
/// owned_by_distance.
std::optional<Tree> make_tree(const Topology& topology, TreeKind kind, int root,
                              std::size_t length_bytes);

/// Each rank as a host of its own, beside those that share its host: ranks have connections of their own.
Network network_of_ranks(const Network& hosts, const Placement& placement);

/// Nothing is everywhere earlier than this after it left `root`: the longest of the shortest paths,
/// by latency. Nothing if a host cannot be reached.
std::optional<double> latency_bound_us(const Network& network, int root);

// What the hosts of one site share when they send to other sites. It cannot be measured directly: that takes
// transfers to several sites at once. But a site is hardly ever connected to each other one by a line of its
// own, so what it shares is taken to be as fast as the fastest way that was measured between it and another.

/// `site_of`: label per host, from 0. Sites from which some way has no known limit have no limit.
Network::Uplinks uplinks_of(const Network& network, const std::vector<int>& site_of);

// The network as ranks see it: hosts and links, which host each rank is on, and what a message, a
// copy and a reduction cost in a host's memory.

/// Of one representative host; the defaults are those of an ordinary server, not measured.
struct MemoryCosts {
    double message_latency_us = 0.5;    ///< from the start of a message until the peer can see it
    double message_overhead_us = 0.25;  ///< processor time of each side, besides moving the bytes
    double copy_bytes_per_us = 5000;    ///< also what each side of a message moves
    double reduce_bytes_per_us = 2500;
    bool measured = false;  ///< copies and reductions; false: assumed
    /// Of the messages of all the host's ranks together: what its memory carries. Nobody measures it yet.
    double shared_bytes_per_us = std::numeric_limits<double>::infinity();

    bool operator==(const MemoryCosts&) const = default;
};

/// Copies share the hosts' topology and the placement, which may be large.
class RankNetwork {
  public:
    RankNetwork(Topology topology, Placement placement, MemoryCosts memory = {})
        : RankNetwork(std::make_shared<const Topology>(std::move(topology)),
                      std::make_shared<const Placement>(std::move(placement)), memory) {}
    RankNetwork(std::shared_ptr<const Topology> topology,
                std::shared_ptr<const Placement> placement, MemoryCosts memory)
        : memory_(memory), topology_(std::move(topology)), placement_(std::move(placement)) {}

    const Topology& topology() const { return *topology_; }
    const Network& between_hosts() const { return topology_->network; }
    const Placement& placement() const { return *placement_; }
    const MemoryCosts& memory() const { return memory_; }
    int rank_count() const { return placement_->rank_count(); }
    int host_count() const { return between_hosts().host_count(); }

    /// The same hosts with one rank each, of the same number.
    RankNetwork of_hosts() const {
        return {topology_,
                std::make_shared<const Placement>(Placement::in_blocks(host_count(), 1)),
                memory_};
    }

  private:
    MemoryCosts memory_;
    std::shared_ptr<const Topology> topology_;
    std::shared_ptr<const Placement> placement_;
};

}  // namespace mutirao
