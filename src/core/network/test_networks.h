// Networks and trees for tests: made from a seed, so that a failure can be repeated, and the one
// of the paper. Only tests include this.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "core/network/network.h"
#include "core/network/placement.h"
#include "core/network/topology.h"
#include "core/network/tree.h"
#include "core/schedule/predictor.h"

namespace mutirao::test {

/// Copies and reductions take no time, where memory is not the question.
inline constexpr MemoryCosts free_memory{0, 0, std::numeric_limits<double>::infinity(),
                                         std::numeric_limits<double>::infinity()};

inline RankNetwork one_rank_per_host(Topology topology, MemoryCosts memory = {}) {
    Placement placement = Placement::in_blocks(topology.network.host_count(), 1);
    return {std::move(topology), std::move(placement), memory};
}

/// With one rank on each host, and such memory.
inline Prediction predict(const std::vector<Schedule>& schedules, const Network& network, PredictOptions options = {}) {
    return mutirao::predict(schedules, one_rank_per_host({network, {}, {}}, free_memory), options);
}

/// Uneven in everything, and different in the two directions of a link.
inline Network random_network(unsigned seed, int host_count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> latency_us(1, 1000), bandwidth(1, 100);
    std::uniform_real_distribution<double> overhead_us(0, 200), port(1, 200);
    Network network(host_count);
    for (int from = 0; from < host_count; ++from) {
        network.set_host(from, {overhead_us(random), overhead_us(random), port(random)});
        for (int to = 0; to < host_count; ++to) {
            if (to != from) network.set_link(from, to, {latency_us(random), bandwidth(random)});
        }
    }
    return network;
}

/// Hosts that cost alike, with links as that says of each two, in both directions.
inline Network network_of(int host_count, const std::function<Link(int a, int b)>& link_between, HostCosts costs = {}) {
    Network network(host_count);
    for (int a = 0; a < host_count; ++a) {
        network.set_host(a, costs);
        for (int b = 0; b < a; ++b) network.set_both(a, b, link_between(a, b));
    }
    return network;
}

inline Network uniform_network(int host_count, Link link, HostCosts costs = {}) {
    return network_of(host_count, [link](int, int) { return link; }, costs);
}

/// Sites of so many hosts in a row.
inline Network network_of_sites(int host_count, int hosts_in_site, Link inside, Link between, HostCosts costs = {}) {
    const auto link = [&](int a, int b) { return a / hosts_in_site == b / hosts_in_site ? inside : between; };
    return network_of(host_count, link, costs);
}

/// How soon each host can have a message from `root` over links that take so long, as Bellman and Ford find it.
inline std::vector<double> shortest_us(int host_count, int root,
                                       const std::function<double(int from, int to)>& link_us) {
    std::vector<double> distance_us(static_cast<std::size_t>(host_count), std::numeric_limits<double>::infinity());
    distance_us[static_cast<std::size_t>(root)] = 0;
    for (int round = 0; round < host_count; ++round) {
        for (int from = 0; from < host_count; ++from) {
            for (int to = 0; to < host_count; ++to) {
                const double from_us = distance_us[static_cast<std::size_t>(from)];
                double& to_us = distance_us[static_cast<std::size_t>(to)];
                if (from != to) to_us = std::min(to_us, from_us + link_us(from, to));
            }
        }
    }
    return distance_us;
}

/// By latency alone, to the farthest host: nothing can be faster.
inline double farthest_us(const Network& network, int root) {
    const auto latency_us = [&](int from, int to) { return network.link(from, to).latency_us; };
    return std::ranges::max(shortest_us(network.host_count(), root, latency_us));
}

/// Every host has a rank, and any may have several.
inline Placement random_placement(unsigned seed, int hosts, int ranks) {
    std::mt19937 random(seed);
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < ranks; ++rank)
        host_of_rank.push_back(rank < hosts ? rank : static_cast<int>(random() % static_cast<unsigned>(hosts)));
    std::shuffle(host_of_rank.begin(), host_of_rank.end(), random);
    return Placement(std::move(host_of_rank));
}

/// Thome and Drummond's Table 1: 24 hosts in six sites. Round trips, so one way is half; 0.05 ms
/// inside a site.
inline Network six_sites() {
    constexpr std::array<std::array<double, 6>, 6> round_trip_ms{{
        {0.0, 485.4, 698.9, 14.9, 332.8, 61.4},
        {485.4, 0.0, 364.1, 583.8, 13.5, 490.5},
        {698.9, 364.1, 0.0, 701.2, 371.7, 722.9},
        {14.9, 583.8, 701.2, 0.0, 331.0, 35.1},
        {332.8, 13.5, 371.7, 331.0, 0.0, 355.9},
        {61.4, 490.5, 722.9, 35.1, 355.9, 0.0},
    }};
    return network_of(24, [&](int a, int b) {
        const auto row = static_cast<std::size_t>(a / 4), column = static_cast<std::size_t>(b / 4);
        return Link{.latency_us = row == column ? 50 : round_trip_ms[row][column] * 500};
    });
}

/// With processors and links as an ordinary machine has them.
inline Network six_sites_with_costs() {
    const Network sites = six_sites();
    const auto link = [&](int a, int b) { return Link{sites.link(a, b).latency_us, 1000}; };
    Network network = network_of(sites.host_count(), link, {.send_overhead_us = 20, .receive_overhead_us = 20});
    network.transport.eager_limit_bytes = 65536;
    return network;
}

/// Over TCP, whose connections were idle.
inline Network six_sites_over_tcp() {
    Network network = six_sites();
    network.transport.initial_window_bytes = Transport::ten_packets_bytes;
    return network;
}

inline std::vector<int> labels_of_six_sites() {
    std::vector<int> labels;
    for (int host = 0; host < 24; ++host) labels.push_back(host / 4);
    return labels;
}

inline EdgeList random_spanning_edges(std::mt19937& random, int host_count) {
    std::vector<int> hosts(static_cast<std::size_t>(host_count));
    for (int host = 0; host < host_count; ++host) hosts[static_cast<std::size_t>(host)] = host;
    std::shuffle(hosts.begin(), hosts.end(), random);
    EdgeList edges;
    for (std::size_t i = 1; i < hosts.size(); ++i) {
        edges.emplace_back(hosts[random() % i], hosts[i]);
    }
    return edges;
}

/// Children and parents agree, and every host hangs from the root.
inline bool is_tree(const Tree& tree, int root, int host_count) {
    if (tree.root != root || tree.size() != host_count) return false;
    if (tree.children.size() != tree.parent.size()) return false;
    if (tree.parent[static_cast<std::size_t>(root)] != -1) return false;
    std::vector<int> reached{root};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        for (const int child : tree.children[static_cast<std::size_t>(reached[next])]) {
            if (child < 0 || child >= host_count) return false;
            if (tree.parent[static_cast<std::size_t>(child)] != reached[next]) return false;
            reached.push_back(child);
            if (static_cast<int>(reached.size()) > host_count) return false;
        }
    }
    return static_cast<int>(reached.size()) == host_count;
}

}  // namespace mutirao::test
