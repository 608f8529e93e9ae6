// Rooted trees over hosts, and the ways to get one from a network. A minimum spanning tree is the
// cheapest to maintain and the best for pipelined messages; it is not the fastest for a small
// message from a given root, so there are several kinds and the predictor decides.
#pragma once

#include <compare>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/network/network.h"

namespace mutirao {

enum class TreeKind : unsigned char {
    none,
    minimum_spanning,
    shortest_path,
    greedy,
    two_level,
    regions,
    two_level_uneven,
    regions_uneven,
    packed,
    packed_both_ways
};

/// Trees for shares of a message, which over several ranks of a host may be of ranks.
constexpr bool is_packed(TreeKind kind) { return kind == TreeKind::packed || kind == TreeKind::packed_both_ways; }

/// Trees over regions rather than sites, and those that also say which of them owns how much of a message.
constexpr bool is_over_regions(TreeKind kind) {
    return kind == TreeKind::regions || kind == TreeKind::regions_uneven;
}
constexpr bool is_uneven(TreeKind kind) {
    return kind == TreeKind::two_level_uneven || kind == TreeKind::regions_uneven;
}

/// "none", "mst", "shortest_path", "greedy", "two_level", "regions", "two_level_uneven", "regions_uneven",
/// "packed", "packed_both_ways".
std::string_view to_string(TreeKind kind);
std::optional<TreeKind> tree_kind_from(std::string_view name);

struct Tree {
    int root = 0;
    std::vector<int> parent;  ///< of each host, or, of packed trees over several ranks of a host, of each rank; parent[root] == -1
    std::vector<std::vector<int>> children;  ///< of each host, in the order in which a parent serves them
    /// Of packed trees: one for each equal share of the message, brothers by their numbers; the first is
    /// also this one. Empty: all of the message goes over this one.
    std::vector<Tree> shares{};
    /// Of a two-level tree: a label per host, from 0, for what goes by sites, or by regions, and not along edges. Else empty.
    std::vector<int> site_of{};
    /// Of an uneven tree: of owned_parts equal parts of a message, how many the ranks of each label own. Empty: all as much.
    std::vector<int> owned{};

    int size() const { return static_cast<int>(parent.size()); }
    /// As the last child so far.
    void hang(int child, int below) {
        parent[static_cast<std::size_t>(child)] = below;
        children[static_cast<std::size_t>(below)].push_back(child);
    }
    bool operator==(const Tree&) const = default;
};

inline constexpr int owned_parts = 128;

/// Where nothing hangs from anything yet.
inline Tree bare_tree(std::size_t hosts, int root) {
    return {root, std::vector<int>(hosts, -1), std::vector<std::vector<int>>(hosts)};
}

/// Hosts from the root on, parents before their children, brothers in the order in which they are served.
std::vector<int> from_root_down(const Tree& tree);

/// When each host has a message over `tree`, as far as latency and transmission go.
std::vector<double> arrivals_us(const Tree& tree, const Network& network,
                                std::size_t length_bytes);

using EdgeList = std::vector<std::pair<int, int>>;

/// Hangs an undirected spanning tree from `root`; every parent serves first the child below which
/// the longest path (in latency) lies. Nothing if the edges do not span the network's hosts.
std::optional<Tree> hang_from(const EdgeList& edges, int root, const Network& network);

/// Dijkstra from `root` over the usable links, weight = latency + length / bandwidth; of paths that differ by less than
/// connecting_share those between hosts that are connected. Nothing if a host cannot be reached.
std::optional<Tree> shortest_path_tree(const Network& network, int root, std::size_t length_bytes);
inline constexpr double connecting_share = 0.005;

/// Repeatedly gives the message to the host that can have it earliest, given that every sender is
/// busy for send_overhead + length / port bandwidth per message (after Bhat, Raghavendra and
/// Prasanna, "Efficient collective communication in distributed heterogeneous systems", 2003,
/// doi:10.1016/S0743-7315(03)00008-X). Nothing if a host cannot be reached.
std::optional<Tree> greedy_tree(const Network& network, int root, std::size_t length_bytes);

/// A tree for each share of a long message, packed so that together they use what all links can carry at
/// once: bandwidths, ports, uplinks, and what TCP lets through in the first round trips.
/// A message of a single share goes over shortest paths. Nothing if a host cannot be reached, or beyond
/// most_packed_hosts. `both_ways`: the message goes up the trees first.
std::optional<Tree> packed_trees(const Network& network, int root, std::size_t length_bytes, bool both_ways = false);

/// Of more hosts there would be too few trees for what every rank may hold of them: hosts times trees.
inline constexpr int most_packed_hosts = 64;
inline constexpr std::size_t most_packed_places = 2048;

/// MagPIe's broadcast tree (Kielmann et al. 1999, doi:10.1145/301104.301116): the root sends to one
/// coordinator of every other site, and inside each site a binomial tree goes on.
/// site_of[h] is any label; the coordinator of a site is its lowest host (the root in its own).
Tree two_level_tree(const std::vector<int>& site_of, int root);

/// From `parent` for every host (-1: the root); children in ascending order.
Tree tree_from_parents(const std::vector<int>& parent, int root);

/// Hosts in the order in which they had the message, and from whom and when they had it; never: not reached.
struct Growth {
    std::vector<int> order, parent;
    std::vector<double> has_us;

    bool reaches_all() const { return order.size() == parent.size(); }
};

/// As Prim and Dijkstra grow a tree: the next host is always the one that is nearest to some host of it, ties by
/// number. `nearness_us(from, to, has_us)`: where `from` has the message at has_us; infinite: never. `arrival_us`: when
/// `to` then has it.
Growth grow(int host_count, int root, const auto& nearness_us, const auto& arrival_us) {
    constexpr double never = std::numeric_limits<double>::infinity();
    const auto hosts = static_cast<std::size_t>(host_count);
    Growth tree{{}, std::vector<int>(hosts, -1), std::vector<double>(hosts, never)};
    std::vector<double> least_us(hosts, never);
    double has_us = 0;
    for (int next = root;;) {
        tree.order.push_back(next);
        tree.has_us[static_cast<std::size_t>(next)] = has_us;
        if (tree.order.size() == hosts) return tree;
        std::optional<std::size_t> nearest;
        for (std::size_t to = 0; to < hosts; ++to) {
            if (tree.has_us[to] != never) continue;
            const double us = nearness_us(next, static_cast<int>(to), has_us);
            if (us < least_us[to]) {
                least_us[to] = us;
                tree.parent[to] = next;
            }
            if (least_us[to] < (nearest ? least_us[*nearest] : never)) nearest = to;
        }
        if (!nearest) return tree;
        const int from = tree.parent[*nearest];
        next = static_cast<int>(*nearest);
        has_us = arrival_us(from, next, tree.has_us[static_cast<std::size_t>(from)]);
    }
}

// Kruskal's sequential minimum spanning tree: the oracle for the distributed ones, and what tools
// use where the whole matrix is at hand.

/// A link's weight, made distinct by the numbers of its ends.
struct Weight {
    double value = 0;
    int low = -1;              ///< smaller end
    int high = -1;             ///< larger end
    bool last_resort = false;  ///< after all links that are not

    bool operator==(const Weight&) const = default;
    std::partial_ordering operator<=>(const Weight& other) const {
        return std::tie(last_resort, value, low, high) <=>
               std::tie(other.last_resort, other.value, other.low, other.high);
    }
    /// After everything.
    static Weight infinite() {
        constexpr int last = std::numeric_limits<int>::max();
        return {std::numeric_limits<double>::infinity(), last, last, true};
    }
};

/// Those that can be used both ways, each with the weight that both its ends use: the larger of its two latencies.
std::vector<Weight> links_of(const Network& network);

/// The minimum spanning forest of these links, in the order of its weights.
std::vector<Weight> lightest_forest(int host_count, std::vector<Weight> links);

/// The same as edges (low, high), sorted, without links that carry nothing.
EdgeList kruskal(int host_count, std::vector<Weight> links);
EdgeList minimum_spanning_tree(const Network& network);

}  // namespace mutirao
