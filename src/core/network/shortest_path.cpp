// Dijkstra's shortest paths (1959, doi:10.1007/BF01386390) from the root: every host is reached as
// early as its links allow, if senders cost nothing. Hosts x hosts steps, as the matrix is dense.
#include "core/network/tree.h"
#include "core/network/tree_order.h"

namespace mutirao {

std::optional<Tree> shortest_path_tree(const Network& network, int root,
                                       std::size_t length_bytes) {
    const int host_count = network.host_count();
    const auto weight_us = [&](int from, int to) {
        const Link link = network.link(from, to);
        return link.latency_us + transmission_us(length_bytes, link.bandwidth_bytes_per_us);
    };

    constexpr double unreached = std::numeric_limits<double>::infinity();
    std::vector<double> distance_us(static_cast<std::size_t>(host_count), unreached);
    std::vector<int> parent(static_cast<std::size_t>(host_count), -1);
    std::vector<bool> settled(static_cast<std::size_t>(host_count), false);
    distance_us[static_cast<std::size_t>(root)] = 0;

    for (int round = 0; round < host_count; ++round) {
        int nearest = -1;
        double nearest_us = unreached;
        for (int host = 0; host < host_count; ++host) {
            const auto h = static_cast<std::size_t>(host);
            if (!settled[h] && distance_us[h] < nearest_us) {
                nearest = host;
                nearest_us = distance_us[h];
            }
        }
        if (nearest < 0) return std::nullopt;
        settled[static_cast<std::size_t>(nearest)] = true;
        for (int host = 0; host < host_count; ++host) {
            const auto h = static_cast<std::size_t>(host);
            const double through_us = nearest_us + weight_us(nearest, host);
            if (through_us < distance_us[h]) {
                distance_us[h] = through_us;
                parent[h] = nearest;
            }
        }
    }

    Tree tree = tree_from_parents(std::move(parent), root);
    serve_longest_first(tree, {weight_us, [](int) { return 0.0; }});
    return tree;
}

}  // namespace mutirao
