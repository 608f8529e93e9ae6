#include "core/network/topology.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/network/tree.h"

namespace mutirao {
namespace {

/// The labels of sites or regions, but that the one that is clearly farther from the others than any other has the
/// last one.
std::vector<int> farthest_last(const Network& network, std::vector<int> site_of) {
    constexpr double clear_ratio = 1.25;
    std::map<int, int> host_in;  // one of each site stands for it
    for (std::size_t host = 0; host < site_of.size(); ++host) host_in.try_emplace(site_of[host], static_cast<int>(host));
    std::vector<std::pair<double, int>> by_distance_us;
    for (const auto& [site, host] : host_in) {
        double sum_us = 0;
        for (const auto& [other, its_host] : host_in) sum_us += network.link(host, its_host).latency_us;
        by_distance_us.emplace_back(sum_us, site);
    }
    std::ranges::sort(by_distance_us, std::greater<>());
    if (by_distance_us.size() < 3 || by_distance_us[0].first < clear_ratio * by_distance_us[1].first) return site_of;
    const int farthest = by_distance_us[0].second, last = host_in.rbegin()->first;
    for (int& site : site_of) site = site == farthest ? last : site == last ? farthest : site;
    return site_of;
}

}  // namespace

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
            break;
    }
    const std::vector<int>& groups = kind == TreeKind::regions ? topology.region_of : topology.site_of;
    if (static_cast<int>(groups.size()) != network.host_count()) return std::nullopt;
    return two_level_tree(farthest_last(network, groups), root);
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
