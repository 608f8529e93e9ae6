#include "core/network/topology.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/network/tree.h"

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
        case TreeKind::packed_both_ways:
            return packed_trees(network, root, length_bytes, true);
        case TreeKind::two_level:
        case TreeKind::regions:
        case TreeKind::two_level_uneven:
        case TreeKind::regions_uneven:
            break;
    }
    const std::vector<int>& groups = is_over_regions(kind) ? topology.region_of : topology.site_of;
    if (static_cast<int>(groups.size()) != network.host_count()) return std::nullopt;
    return two_level_tree(groups, root);
}

Network network_of_ranks(const Network& hosts, const Placement& placement) {
    constexpr double beside_us = 1;
    Network ranks(placement.rank_count());
    ranks.transport = hosts.transport;
    ranks.uplinks.bytes_per_us = hosts.uplinks.bytes_per_us;
    for (int from = 0; from < placement.rank_count(); ++from) {
        const int its_host = placement.host_of(from);
        ranks.set_host(from, hosts.host(its_host));
        if (!hosts.uplinks.of_host.empty())
            ranks.uplinks.of_host.push_back(hosts.uplinks.of_host[static_cast<std::size_t>(its_host)]);
        for (int to = 0; to < placement.rank_count(); ++to) {
            if (from == to) continue;
            const int other = placement.host_of(to);
            ranks.set_link(from, to, other == its_host ? Link{.latency_us = beside_us} : hosts.link(its_host, other));
        }
    }
    return ranks;
}

std::optional<double> latency_bound_us(const Network& network, int root) {
    const auto through_us = [&](int from, int to, double has_us) { return has_us + network.link(from, to).latency_us; };
    const Growth grown = grow(network.host_count(), root, through_us, through_us);
    return grown.reaches_all() ? std::optional(std::ranges::max(grown.has_us)) : std::nullopt;
}

Network::Uplinks uplinks_of(const Network& network, const std::vector<int>& site_of) {
    Network::Uplinks uplinks;
    if (site_of.empty()) return uplinks;
    const int sites = *std::max_element(site_of.begin(), site_of.end()) + 1;
    uplinks.bytes_per_us.assign(static_cast<std::size_t>(sites), 0);
    for (int from = 0; from < network.host_count(); ++from) {
        const int site = site_of[static_cast<std::size_t>(from)];
        double& fastest = uplinks.bytes_per_us[static_cast<std::size_t>(site)];
        for (int to = 0; to < network.host_count(); ++to) {
            if (site_of[static_cast<std::size_t>(to)] == site) continue;
            fastest = std::max(fastest, network.link(from, to).bandwidth_bytes_per_us);
        }
    }
    const auto limited = [](double each) { return std::isfinite(each) && each > 0; };
    if (std::none_of(uplinks.bytes_per_us.begin(), uplinks.bytes_per_us.end(), limited)) return {};
    uplinks.of_host = site_of;
    return uplinks;
}

}  // namespace mutirao
