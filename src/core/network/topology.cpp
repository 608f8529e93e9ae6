#include "core/network/topology.h"

#include <algorithm>

namespace mutirao {

std::optional<Tree> make_tree(const Topology& topology, TreeKind kind, int root,
                              std::size_t length_bytes) {
    if (!topology.complete()) return std::nullopt;
    const Network& network = topology.network;
    switch (kind) {
        case TreeKind::none:
            return std::nullopt;
        case TreeKind::minimum_spanning:
            return hang_from(topology.spanning_tree, root, network);
        case TreeKind::shortest_path:
            return shortest_path_tree(network, root, length_bytes);
        case TreeKind::greedy:
            return greedy_tree(network, root, length_bytes);
        case TreeKind::packed:
            return packed_trees(network, root, length_bytes);
        case TreeKind::two_level:
            break;
    }
    if (static_cast<int>(topology.site_of.size()) != network.host_count()) return std::nullopt;
    return two_level_tree(topology.site_of, root);
}

std::optional<double> latency_bound_us(const Network& network, int root) {
    const auto shortest = shortest_path_tree(network, root, 0);
    if (!shortest) return std::nullopt;
    const std::vector<double> times_us = arrivals_us(*shortest, network, 0);
    return *std::max_element(times_us.begin(), times_us.end());
}

}  // namespace mutirao
