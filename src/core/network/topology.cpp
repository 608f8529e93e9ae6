#include "core/network/topology.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/network/tree.h"

namespace mutirao {
namespace {

/// The labels of sites, but that the one that is clearly farther from the others than any other has the last one.
std::vector<int> farthest_last(const Topology& topology) {
    constexpr double clear_ratio = 1.25;
    std::vector<int> site_of = topology.site_of;
    std::map<int, int> host_in;  // one of each site stands for it
    for (std::size_t host = 0; host < site_of.size(); ++host) host_in.try_emplace(site_of[host], static_cast<int>(host));
    std::vector<std::pair<double, int>> by_distance_us;
    for (const auto& [site, host] : host_in) {
        double sum_us = 0;
        for (const auto& [other, its_host] : host_in) sum_us += topology.network.link(host, its_host).latency_us;
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
            break;
    }
    if (static_cast<int>(topology.site_of.size()) != network.host_count()) return std::nullopt;
    return two_level_tree(farthest_last(topology), root);
}

std::optional<double> latency_bound_us(const Network& network, int root) {
    const auto shortest = shortest_path_tree(network, root, 0);
    if (!shortest) return std::nullopt;
    const std::vector<double> times_us = arrivals_us(*shortest, network, 0);
    return *std::max_element(times_us.begin(), times_us.end());
}

// Which hosts are near each other: single-linkage clustering, found along a minimum spanning tree
// (Gower and Ross 1969, doi:10.2307/2346439), cut where latencies jump the most.

namespace {

/// Below this, differences in latency are the clock's, not the network's.
constexpr double least_distance_us = 1.0;

/// Hosts further apart than this are not on one local network, however far the others are.
constexpr double local_us = 2000.0;

struct Merge {
    double distance_us;
    int a;
    int b;
};

double distance_us(const Network& network, int a, int b) {
    const double farther = std::max(network.link(a, b).latency_us, network.link(b, a).latency_us);
    return std::max(farther, least_distance_us);
}

/// Prim's minimum spanning forest, shortest first: the merges of single linkage. Hosts that no
/// usable link connects are never merged.
std::vector<Merge> merges_of(const Network& network) {
    const int host_count = network.host_count();
    std::vector<Merge> nearest;  // per host outside the tree: its best link to the inside
    for (int host = 1; host < host_count; ++host) {
        nearest.push_back({distance_us(network, 0, host), 0, host});
    }
    std::vector<Merge> merges;
    while (!nearest.empty()) {
        const auto next = std::min_element(
            nearest.begin(), nearest.end(),
            [](const Merge& x, const Merge& y) { return x.distance_us < y.distance_us; });
        const Merge merge = *next;
        nearest.erase(next);
        if (std::isfinite(merge.distance_us)) merges.push_back(merge);
        for (Merge& each : nearest) {
            const double through_us = distance_us(network, merge.b, each.b);
            if (through_us < each.distance_us) each = {through_us, merge.b, each.b};
        }
    }
    std::stable_sort(merges.begin(), merges.end(), [](const Merge& x, const Merge& y) {
        return x.distance_us < y.distance_us;
    });
    return merges;
}

/// Sites are farther from each other, compared with what lies inside them.
constexpr double least_gap = 4.0;

/// Latencies that cross a limit by less change nothing.
constexpr double doubt = 1.25;

/// Beyond the first so many merges; 1 where all are inside sites.
double gap_beyond(const std::vector<Merge>& merges, std::size_t inside) {
    return inside == 0 || inside >= merges.size() ? 1 : merges[inside].distance_us / merges[inside - 1].distance_us;
}

bool separates(const std::vector<Merge>& merges, std::size_t inside, double margin) {
    return gap_beyond(merges, inside) * margin >= least_gap && merges[inside - 1].distance_us <= local_us * margin;
}

/// How many of the merges are inside sites.
std::size_t widest_gap(const std::vector<Merge>& merges) {
    std::size_t widest = merges.size();
    for (std::size_t inside = 1; inside < merges.size(); ++inside) {
        if (separates(merges, inside, 1) && gap_beyond(merges, inside) > gap_beyond(merges, widest)) widest = inside;
    }
    return widest;
}

/// The same of sites that are known; nothing if the shortest merges do not make them.
std::optional<std::size_t> merges_inside(const std::vector<Merge>& merges, const std::vector<int>& site_of) {
    const auto site = [&](int host) { return site_of[static_cast<std::size_t>(host)]; };
    const auto crosses = [&](const Merge& each) { return site(each.a) != site(each.b); };
    const auto first_between = std::ranges::find_if(merges, crosses);
    const auto inside = static_cast<std::size_t>(first_between - merges.begin());
    const std::size_t site_count = std::set(site_of.begin(), site_of.end()).size();
    const bool whole = site_of.size() - inside == site_count && std::all_of(first_between, merges.end(), crosses);
    return whole ? std::optional(inside) : std::nullopt;
}

bool may_stay(const std::vector<Merge>& merges, std::size_t inside) {
    const std::size_t widest = widest_gap(merges);
    if (widest == inside) return true;
    if (inside == merges.size()) return !separates(merges, widest, 1 / doubt);
    return separates(merges, inside, doubt) &&
           gap_beyond(merges, widest) <= doubt * gap_beyond(merges, inside);
}

int site_root(std::vector<int>& above, int host) {
    while (above[static_cast<std::size_t>(host)] != host) {
        const int grand = above[static_cast<std::size_t>(above[static_cast<std::size_t>(host)])];
        above[static_cast<std::size_t>(host)] = grand;
        host = grand;
    }
    return host;
}

}  // namespace

std::vector<int> discover_sites(const Network& network, const std::vector<int>& before) {
    const int host_count = network.host_count();
    if (host_count == 0) return {};
    const std::vector<Merge> merges = merges_of(network);
    const bool of_these = before.size() == static_cast<std::size_t>(host_count);
    const auto known = of_these ? merges_inside(merges, before) : std::nullopt;
    if (known && may_stay(merges, *known)) return before;
    const std::size_t inside = widest_gap(merges);

    std::vector<int> above(static_cast<std::size_t>(host_count));
    for (int host = 0; host < host_count; ++host) above[static_cast<std::size_t>(host)] = host;
    for (std::size_t i = 0; i < inside; ++i) {
        above[static_cast<std::size_t>(site_root(above, merges[i].a))] =
            site_root(above, merges[i].b);
    }

    std::vector<int> label_of_root(static_cast<std::size_t>(host_count), -1);
    std::vector<int> site_of;
    int sites = 0;
    for (int host = 0; host < host_count; ++host) {
        int& label = label_of_root[static_cast<std::size_t>(site_root(above, host))];
        if (label < 0) label = sites++;
        site_of.push_back(label);
    }
    return site_of;
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
