// What all trees share: names, shape, hanging from a root and the order of serving.
#include "core/network/tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/algorithms/shape.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

constexpr std::array<std::string_view, 10> kind_names = {
    "none", "mst", "shortest_path", "greedy", "two_level", "regions", "two_level_uneven", "regions_uneven",
    "packed", "packed_both_ways",
};

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

std::string_view to_string(TreeKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<TreeKind> tree_kind_from(std::string_view name) {
    const auto found = std::ranges::find(kind_names, name);
    return found == kind_names.end() ? std::nullopt : std::optional(static_cast<TreeKind>(found - kind_names.begin()));
}

Tree tree_from_parents(const std::vector<int>& parent, int root) {
    Tree tree = bare_tree(parent.size(), root);
    for (std::size_t host = 0; host < parent.size(); ++host) {
        if (parent[host] >= 0) tree.hang(static_cast<int>(host), parent[host]);
    }
    return tree;
}

std::vector<int> from_root_down(const Tree& tree) {
    std::vector<int> order{tree.root};
    order.reserve(tree.parent.size());
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::vector<int>& children = tree.children[static_cast<std::size_t>(order[next])];
        order.insert(order.end(), children.begin(), children.end());
    }
    return order;
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

namespace {

/// Every parent serves first the child below which the longest path lies, ties by host number.
/// Since a host is busy equally long for each child, no other order completes earlier (Jackson's
/// rule for one machine with delivery times, 1955). `delivery_us(parent, child)`: from the start of a send until the
/// child has the message; `busy_us(parent)`: until the next can start.
void serve_longest_first(Tree& tree, const auto& delivery_us, const auto& busy_us) {
    struct Served {
        double rest_us;  // from the start of the send until all below the child have the message
        int child;
    };
    std::vector<double> below_us(tree.parent.size(), 0.0);
    const std::vector<int> order = from_root_down(tree);
    for (auto host = order.rbegin(); host != order.rend(); ++host) {
        std::vector<int>& children = tree.children[static_cast<std::size_t>(*host)];
        std::vector<Served> served;
        for (const int child : children) {
            served.push_back({delivery_us(*host, child) +
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
            start_us += busy_us(*host);
        }
    }
}

double never_busy_us(int) { return 0; }

}  // namespace

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

    Tree tree = tree_from_parents(parent, root);
    serve_longest_first(tree, [&](int from, int to) { return network.link(from, to).latency_us; }, never_busy_us);
    return tree;
}

// Dijkstra's shortest paths (1959, doi:10.1007/BF01386390) from the root: every host is reached as
// early as its links allow, if senders cost nothing. Hosts x hosts steps, as the matrix is dense.

std::optional<Tree> shortest_path_tree(const Network& network, int root, std::size_t length_bytes) {
    const auto handicap = [&](int a, int b) {
        const bool must_connect = network.connected && !std::ranges::binary_search(
            *network.connected, std::pair(std::min(a, b), std::max(a, b)));
        return must_connect ? 1 + connecting_share : 1;
    };
    const auto weight_us = [&](int from, int to) {
        const Link link = network.link(from, to);
        return link.latency_us + transmission_us(length_bytes, link.bandwidth_bytes_per_us);
    };

    const auto through_us = [&](int from, int to, double has_us) {
        return has_us + handicap(from, to) * weight_us(from, to);
    };
    const Growth grown = grow(network.host_count(), root, through_us, through_us);
    if (!grown.reaches_all()) return std::nullopt;
    Tree tree = tree_from_parents(grown.parent, root);
    serve_longest_first(tree, weight_us, never_busy_us);
    return tree;
}

// Greedy earliest completion (Bhat, Raghavendra and Prasanna 2003,
// doi:10.1016/S0743-7315(03)00008-X: "earliest completing edge first"), then each host's sends in
// the best order for the tree that came out.
//
// A sender is busy per message for the larger of its send overhead and the time its port takes;
// the message is with the receiver after both overheads, the latency and the transmission at the
// slowest of link and ports.
// Cost: hosts^2 log(hosts), since a sender's receivers keep their order whenever it is ready.

std::optional<Tree> greedy_tree(const Network& network, int root, std::size_t length_bytes) {
    const auto busy_us = [&](int from) {
        const HostCosts& costs = network.host(from);
        return std::max(costs.send_overhead_us, transmission_us(length_bytes, costs.port_bytes_per_us));
    };
    const auto delivery_us = [&](int from, int to) {
        const Link link = network.link(from, to);
        const HostCosts &sender = network.host(from), &receiver = network.host(to);
        const double bandwidth =
            std::min({link.bandwidth_bytes_per_us, sender.port_bytes_per_us, receiver.port_bytes_per_us});
        return sender.send_overhead_us + link.latency_us + transmission_us(length_bytes, bandwidth) +
               receiver.receive_overhead_us;
    };
    struct Sender {
        int host;
        double ready_us;
        /// With delivery_us; nearest last, so that reached ones are popped.
        std::vector<std::pair<double, int>> receivers{};
    };
    const auto hosts = static_cast<std::size_t>(network.host_count());
    std::vector<int> parent(hosts, -1);
    std::vector<bool> reached(hosts, false);
    std::vector<Sender> senders;  // in the order in which they were reached
    const auto reach = [&](int host, double ready_us) {
        reached[static_cast<std::size_t>(host)] = true;
        Sender& sender = senders.emplace_back(Sender{host, ready_us});
        for (std::size_t to = 0; to < hosts; ++to) {
            const double us = delivery_us(host, static_cast<int>(to));
            if (!reached[to] && std::isfinite(us)) sender.receivers.emplace_back(us, static_cast<int>(to));
        }
        std::ranges::sort(sender.receivers, std::greater<>());
    };
    reach(root, 0);
    while (senders.size() < hosts) {
        Sender* best = nullptr;
        double best_us = std::numeric_limits<double>::infinity();
        for (Sender& sender : senders) {
            auto& receivers = sender.receivers;
            while (!receivers.empty() && reached[static_cast<std::size_t>(receivers.back().second)])
                receivers.pop_back();
            if (receivers.empty() || sender.ready_us + receivers.back().first >= best_us) continue;
            best = &sender;
            best_us = sender.ready_us + receivers.back().first;
        }
        if (best == nullptr) return std::nullopt;
        const int host = best->receivers.back().second;
        parent[static_cast<std::size_t>(host)] = best->host;
        best->ready_us += busy_us(best->host);
        reach(host, best_us);
    }
    Tree tree = tree_from_parents(parent, root);
    serve_longest_first(tree, delivery_us, busy_us);
    return tree;
}

// MagPIe's two levels (Kielmann et al. 1999, doi:10.1145/301104.301116): the long ways first, each
// site once, and inside a site the binomial tree that broadcast/binomial would use there.

Tree two_level_tree(const std::vector<int>& site_of, int root) {
    std::map<int, std::vector<int>> hosts_of;  // the coordinator first
    for (std::size_t host = 0; host < site_of.size(); ++host) {
        hosts_of[site_of[host]].push_back(static_cast<int>(host));
    }
    std::vector<int>& home = hosts_of.at(site_of[static_cast<std::size_t>(root)]);
    std::ranges::rotate(home, std::ranges::find(home, root));

    Tree tree = bare_tree(site_of.size(), root);
    for (std::size_t host = 0; host < site_of.size(); ++host) {
        const int coordinator = hosts_of.at(site_of[host]).front();
        if (coordinator == static_cast<int>(host) && coordinator != root) tree.hang(coordinator, root);
    }
    for (const auto& [site, hosts] : hosts_of) {
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            for (const int child : k_nomial_place(static_cast<int>(i), static_cast<int>(hosts.size()), 2).children)
                tree.hang(hosts[static_cast<std::size_t>(child)], hosts[i]);
        }
    }
    tree.site_of = site_of;
    return tree;
}

std::vector<Weight> links_of(const Network& network) {
    std::vector<Weight> links;
    for (int low = 0; low < network.host_count(); ++low) {
        for (int high = low + 1; high < network.host_count(); ++high) {
            const double latency_us = std::max(network.link(low, high).latency_us, network.link(high, low).latency_us);
            if (std::isfinite(latency_us)) links.push_back({latency_us, low, high});
        }
    }
    return links;
}

std::vector<Weight> lightest_forest(int host_count, std::vector<Weight> links) {
    std::ranges::sort(links);
    std::vector<int> joined(static_cast<std::size_t>(host_count));  // hosts that are together have one label
    std::iota(joined.begin(), joined.end(), 0);
    std::erase_if(links, [&](const Weight& link) {
        const auto [low, high] = std::minmax(link.low, link.high);
        if (low < 0) broken_invariant("edge's low end among hosts", low, host_count);
        if (high >= host_count) broken_invariant("edge's high end among hosts", high, host_count);
        const int from = joined[static_cast<std::size_t>(low)], to = joined[static_cast<std::size_t>(high)];
        if (from == to) return true;
        std::ranges::replace(joined, from, to);
        return false;
    });
    return links;
}

EdgeList kruskal(int host_count, std::vector<Weight> links) {
    std::erase_if(links, [](const Weight& link) { return !std::isfinite(link.value); });
    EdgeList forest;
    for (const Weight& link : lightest_forest(host_count, std::move(links))) forest.emplace_back(link.low, link.high);
    std::ranges::sort(forest);
    return forest;
}

EdgeList minimum_spanning_tree(const Network& network) { return kruskal(network.host_count(), links_of(network)); }

}  // namespace mutirao
