#include "core/network/topology.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/network/tree.h"

namespace mutirao {
namespace {

/// Mean latencies between groups, in us; groups x groups.
class Distances {
  public:
    Distances(const Network& network, const std::vector<int>& group_of)
        : sizes_(static_cast<std::size_t>(*std::ranges::max_element(group_of) + 1)), sums_us_(sizes_.size() * sizes_.size()) {
        for (std::size_t from = 0; from < group_of.size(); ++from) {
            if (sizes_[static_cast<std::size_t>(group_of[from])]++ == 0) groups_.push_back(group_of[from]);
            for (std::size_t to = 0; to < group_of.size(); ++to)
                sums_us_[at(group_of[from], group_of[to])] +=
                    network.link(static_cast<int>(from), static_cast<int>(to)).latency_us;
        }
    }
    const std::vector<int>& groups() const { return groups_; }
    int size_of(int group) const { return sizes_[static_cast<std::size_t>(group)]; }
    double between_us(int a, int b) const { return sums_us_[at(a, b)] / size_of(a) / size_of(b); }
    double from_others_us(int group) const {
        double sum_us = 0;
        for (const int other : groups_) {
            if (other != group) sum_us += between_us(group, other);
        }
        return sum_us;
    }

  private:
    std::size_t at(int a, int b) const { return static_cast<std::size_t>(a) * sizes_.size() + static_cast<std::size_t>(b); }

    std::vector<int> groups_;  ///< their labels
    std::vector<int> sizes_;   ///< in hosts, by label
    std::vector<double> sums_us_;
};

/// What differs by less counts as alike, so that noise changes nothing.
constexpr double clear_ratio = 1.25;

/// The group that is farthest from the others: of alike ones the smallest, then the last.
int outer_group(const Distances& distances) {
    double most_us = 0;
    for (const int group : distances.groups()) most_us = std::max(most_us, distances.from_others_us(group));
    int outer = -1;
    for (const int group : distances.groups()) {
        const bool is_far = clear_ratio * distances.from_others_us(group) >= most_us;
        if (is_far && (outer < 0 || distances.size_of(group) <= distances.size_of(outer))) outer = group;
    }
    return outer;
}

/// The group that is nearest to that one: of alike ones the first.
int nearest_group(const Distances& distances, int outer) {
    std::vector<int> others = distances.groups();
    std::erase(others, outer);
    const auto distance_us = [&](int group) { return distances.between_us(group, outer); };
    const double least_us = distance_us(std::ranges::min(others, {}, distance_us));
    return *std::ranges::find_if(others, [&](int group) { return distance_us(group) <= clear_ratio * least_us; });
}

/// The labels of sites or regions, but that the one that is farthest from the others has the last one, and the one that
/// is nearest to it the first.
std::vector<int> farthest_last(const Network& network, std::vector<int> site_of) {
    if (site_of.size() < 3) return site_of;
    const Distances distances(network, site_of);
    if (distances.groups().size() < 3) return site_of;
    const auto exchange = [&](int one, int other) {
        for (int& site : site_of) site = site == one ? other : site == other ? one : site;
    };
    const int outer = outer_group(distances), nearest = nearest_group(distances, outer);
    const auto [first, last] = std::ranges::minmax(distances.groups());
    exchange(outer, last);
    exchange(nearest == last ? outer : nearest, first);
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
