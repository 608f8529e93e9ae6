// What all trees share: names, shape, hanging from a root and the order of serving.
#include "core/network/tree.h"

#include <algorithm>
#include <array>

#include "core/network/tree_order.h"

namespace mutirao {

namespace {

struct NamedKind {
    TreeKind kind;
    std::string_view name;
};
constexpr std::array<NamedKind, 6> named_kinds{{
    {TreeKind::none, "none"},
    {TreeKind::minimum_spanning, "mst"},
    {TreeKind::shortest_path, "shortest_path"},
    {TreeKind::greedy, "greedy"},
    {TreeKind::two_level, "two_level"},
    {TreeKind::packed, "packed"},
}};

/// Parents before children.
std::vector<int> from_root_down(const Tree& tree) {
    std::vector<int> order{tree.root};
    order.reserve(tree.parent.size());
    for (std::size_t next = 0; next < order.size(); ++next) {
        const auto children = tree.children[static_cast<std::size_t>(order[next])];
        order.insert(order.end(), children.begin(), children.end());
    }
    return order;
}

/// Neighbours of each host; nothing if an edge names a host that does not exist.
std::optional<std::vector<std::vector<int>>> neighbours_of(const EdgeList& edges,
                                                           int host_count) {
    std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(host_count));
    for (const auto& [a, b] : edges) {
        if (std::min(a, b) < 0 || std::max(a, b) >= host_count) return std::nullopt;
        neighbours[static_cast<std::size_t>(a)].push_back(b);
        neighbours[static_cast<std::size_t>(b)].push_back(a);
    }
    return neighbours;
}

}  // namespace

std::string_view to_string(TreeKind kind) {
    return named_kinds[static_cast<std::size_t>(kind)].name;
}

std::optional<TreeKind> tree_kind_from(std::string_view name) {
    for (const NamedKind& each : named_kinds) {
        if (each.name == name) return each.kind;
    }
    return std::nullopt;
}

double transmission_us(std::size_t length_bytes, double bandwidth_bytes_per_us) {
    return length_bytes == 0 ? 0.0 : static_cast<double>(length_bytes) / bandwidth_bytes_per_us;
}

ChildLists::ChildLists(const std::vector<std::vector<int>>& lists) {
    first_.reserve(lists.size() + 1);
    first_.push_back(0);
    for (const std::vector<int>& list : lists) {
        all_.insert(all_.end(), list.begin(), list.end());
        first_.push_back(static_cast<int>(all_.size()));
    }
    all_.shrink_to_fit();
}

ChildLists ChildLists::from_parents(const std::vector<int>& parent) {
    std::vector<std::vector<int>> lists(parent.size());
    for (std::size_t host = 0; host < parent.size(); ++host) {
        const int above = parent[host];
        if (above >= 0) lists[static_cast<std::size_t>(above)].push_back(static_cast<int>(host));
    }
    return lists;
}

Tree tree_from_parents(std::vector<int> parent, int root) {
    ChildLists children = ChildLists::from_parents(parent);
    return {root, std::move(parent), std::move(children), {}};
}

std::vector<double> arrivals_us(const Tree& tree, const Network& network,
                                std::size_t length_bytes) {
    std::vector<double> times_us(tree.parent.size(), 0);
    for (const int host : from_root_down(tree)) {
        const int parent = tree.parent[static_cast<std::size_t>(host)];
        if (parent < 0) continue;
        const Link link = network.link(parent, host);
        times_us[static_cast<std::size_t>(host)] =
            times_us[static_cast<std::size_t>(parent)] + link.latency_us +
            transmission_us(length_bytes, link.bandwidth_bytes_per_us);
    }
    return times_us;
}

double serve_longest_first(Tree& tree, const ServingCosts& costs) {
    struct Served {
        double rest_us;  // from the start of the send until all below the child have the message
        int child;
    };
    std::vector<double> below_us(tree.parent.size(), 0.0);
    const std::vector<int> order = from_root_down(tree);
    for (auto host = order.rbegin(); host != order.rend(); ++host) {
        const std::span<int> children = tree.children[static_cast<std::size_t>(*host)];
        std::vector<Served> served;
        for (const int child : children) {
            served.push_back({costs.delivery_us(*host, child) +
                                  below_us[static_cast<std::size_t>(child)],
                              child});
        }
        std::sort(served.begin(), served.end(), [](const Served& a, const Served& b) {
            return a.rest_us != b.rest_us ? a.rest_us > b.rest_us : a.child < b.child;
        });
        double start_us = 0;
        double& complete_us = below_us[static_cast<std::size_t>(*host)];
        for (std::size_t i = 0; i < served.size(); ++i) {
            children[i] = served[i].child;
            complete_us = std::max(complete_us, start_us + served[i].rest_us);
            start_us += costs.busy_us(*host);
        }
    }
    return below_us[static_cast<std::size_t>(tree.root)];
}

std::optional<Tree> hang_from(const EdgeList& edges, int root, const Network& network) {
    const int host_count = network.host_count();
    const auto neighbours = neighbours_of(edges, host_count);
    if (!neighbours || static_cast<int>(edges.size()) != host_count - 1) return std::nullopt;

    std::vector<int> parent(static_cast<std::size_t>(host_count), -1);
    std::vector<int> reached{root};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        const int host = reached[next];
        for (const int child : (*neighbours)[static_cast<std::size_t>(host)]) {
            if (child == parent[static_cast<std::size_t>(host)]) continue;
            const bool closes_cycle = child == root || parent[static_cast<std::size_t>(child)] >= 0;
            if (closes_cycle || !network.link(host, child).usable()) return std::nullopt;
            parent[static_cast<std::size_t>(child)] = host;
            reached.push_back(child);
        }
    }
    if (static_cast<int>(reached.size()) != host_count) return std::nullopt;

    Tree tree = tree_from_parents(std::move(parent), root);
    serve_longest_first(tree, {[&](int from, int to) { return network.link(from, to).latency_us; },
                               [](int) { return 0.0; }});
    return tree;
}

}  // namespace mutirao
