// Kruskal against brute force: of all sets of edges that join as much as the whole graph does, the
// lightest. Weights are powers of two, so that every set has its own sum.
#include "core/network/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

namespace mutirao {
namespace {

/// Component labels by flooding, without disjoint sets.
std::vector<int> flooded(int hosts, const std::vector<WeightedEdge>& edges, std::uint32_t chosen) {
    std::vector<int> label(static_cast<std::size_t>(hosts));
    for (int host = 0; host < hosts; ++host) label[static_cast<std::size_t>(host)] = host;
    for (int round = 0; round < hosts; ++round) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if ((chosen >> i & 1U) == 0) continue;
            int& a = label[static_cast<std::size_t>(edges[i].low)];
            int& b = label[static_cast<std::size_t>(edges[i].high)];
            a = b = std::min(a, b);
        }
    }
    return label;
}

EdgeList by_brute_force(int hosts, const std::vector<WeightedEdge>& edges) {
    const std::uint32_t all = (1U << edges.size()) - 1;
    const std::vector<int> joined = flooded(hosts, edges, all);
    double least = std::numeric_limits<double>::infinity();
    EdgeList best;
    for (std::uint32_t chosen = 0; chosen <= all; ++chosen) {
        double sum = 0;
        EdgeList list;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if ((chosen >> i & 1U) == 0) continue;
            sum += edges[i].weight.value;
            list.emplace_back(edges[i].low, edges[i].high);
        }
        if (sum >= least || flooded(hosts, edges, chosen) != joined) continue;
        least = sum;
        best = std::move(list);
    }
    std::ranges::sort(best);
    return best;
}

TEST(Kruskal, IsTheLightestOfAllForests) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const int hosts = 1 + static_cast<int>(random() % 6);
        std::vector<double> weights;
        for (int i = 0; i < 15; ++i) weights.push_back(static_cast<double>(1U << i));
        std::ranges::shuffle(weights, random);
        std::vector<WeightedEdge> edges;
        for (int low = 0; low < hosts; ++low)
            for (int high = low + 1; high < hosts; ++high)
                if (random() % 3 != 0 && edges.size() < 11)
                    edges.push_back({low, high, {weights[edges.size()], low, high}});
        std::vector<WeightedEdge> shuffled = edges;
        std::ranges::shuffle(shuffled, random);
        EXPECT_EQ(kruskal(hosts, shuffled), by_brute_force(hosts, edges)) << "round " << round;
    }
}

TEST(Kruskal, EqualWeightsGoByHostNumbers) {
    std::vector<WeightedEdge> edges;
    for (int high = 3; high > 0; --high)
        for (int low = high - 1; low >= 0; --low) edges.push_back({low, high, {5, low, high}});
    EXPECT_EQ(kruskal(4, edges), (EdgeList{{0, 1}, {0, 2}, {0, 3}}));
}

TEST(Kruskal, OfANetworkTakesTheSlowerDirectionAndSkipsUnusableLinks) {
    constexpr double never = std::numeric_limits<double>::infinity();
    Network network(4);
    network.set_link(0, 1, {.latency_us = 1});
    network.set_link(1, 0, {.latency_us = 9});
    network.set_both(0, 2, {.latency_us = 5});
    network.set_both(1, 2, {.latency_us = 6});
    network.set_link(0, 3, {.latency_us = 1});
    network.set_link(3, 0, {.latency_us = never});
    network.set_both(1, 3, {.latency_us = never});
    network.set_both(2, 3, {.latency_us = never});
    EXPECT_EQ(link_weight(network, 1, 0), (Weight{9, 0, 1}));
    EXPECT_EQ(minimum_spanning_tree(network), (EdgeList{{0, 2}, {1, 2}}));
    EXPECT_EQ(kruskal(2, {{0, 1, {never, 0, 1}}}), EdgeList{});
    EXPECT_EQ(minimum_spanning_tree(Network(0)), EdgeList{});
}

}  // namespace
}  // namespace mutirao
