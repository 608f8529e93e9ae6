// What became of a communicator's network since its ranks last agreed on it, small enough to
// travel in one message.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/selection/selection.h"

namespace mutirao {

struct NetworkChange {
    struct Link {
        int low = -1;
        int high = -1;
        double latency_us = 0;  ///< one way, in both directions; infinite: nothing gets through

        bool operator==(const Link&) const = default;
    };
    std::vector<Link> links;
    std::optional<EdgeList> spanning_tree;  ///< the new one, if it is another

    bool empty() const { return links.empty() && !spanning_tree; }
    bool operator==(const NetworkChange&) const = default;
};

/// More changed links than this wait for the next message.
constexpr std::size_t most_changed_links = 1024;

/// From what was agreed on to `newest`, which has as many hosts.
NetworkChange difference(const Topology& agreed, const Topology& newest);

/// Equal changes to equal topologies leave equal topologies, bit by bit.
void apply(const NetworkChange& change, Topology& topology);

/// As bytes, for messages. decode: nothing unless `bytes` is what encode() makes of a change among
/// so many hosts.
std::vector<std::byte> encode(const NetworkChange& change);
std::optional<NetworkChange> decode_change(std::span<const std::byte> bytes, int host_count);

}  // namespace mutirao
