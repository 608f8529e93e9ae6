// The greedy tree against every tree and every order of serving that there is.
#include <gtest/gtest.h>

#include <limits>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

using test::is_tree;
using test::random_network;

constexpr std::size_t length_bytes = 2000;

double busy_us(const Network& network, int from) {
    const HostCosts& costs = network.host(from);
    return std::max(costs.send_overhead_us, length_bytes / costs.port_bytes_per_us);
}

double delivery_us(const Network& network, int from, int to) {
    const double slowest =
        std::min({network.link(from, to).bandwidth_bytes_per_us,
                  network.host(from).port_bytes_per_us, network.host(to).port_bytes_per_us});
    return network.host(from).send_overhead_us + network.link(from, to).latency_us +
           length_bytes / slowest + network.host(to).receive_overhead_us;
}

double completion_us(const Tree& tree, const Network& network, int host, double start_us) {
    double last_us = start_us;
    for (const int child : tree.children[static_cast<std::size_t>(host)]) {
        const double arrival_us = start_us + delivery_us(network, host, child);
        last_us = std::max(last_us, completion_us(tree, network, child, arrival_us));
        start_us += busy_us(network, host);
    }
    return last_us;
}

/// Any host that has the message may send it next to any that has not: all trees, all orders.
double optimum_us(const Network& network, std::vector<double>& ready_us, double last_us) {
    constexpr double never = std::numeric_limits<double>::infinity();
    double best_us = never;
    bool complete = true;
    for (std::size_t to = 0; to < ready_us.size(); ++to) {
        if (ready_us[to] != never) continue;
        complete = false;
        for (std::size_t from = 0; from < ready_us.size(); ++from) {
            const double start_us = ready_us[from];
            if (start_us == never) continue;
            const int sender = static_cast<int>(from);
            ready_us[to] = start_us + delivery_us(network, sender, static_cast<int>(to));
            ready_us[from] = start_us + busy_us(network, sender);
            best_us = std::min(best_us,
                               optimum_us(network, ready_us, std::max(last_us, ready_us[to])));
            ready_us[from] = start_us;
            ready_us[to] = never;
        }
    }
    return complete ? last_us : best_us;
}

double farthest_us(const Network& network, int root) {
    const auto hosts = static_cast<std::size_t>(network.host_count());
    std::vector<double> distance_us(hosts, std::numeric_limits<double>::infinity());
    distance_us[static_cast<std::size_t>(root)] = 0;
    for (std::size_t round = 0; round < hosts; ++round) {
        for (std::size_t a = 0; a < hosts; ++a) {
            for (std::size_t b = 0; b < hosts; ++b) {
                if (a == b) continue;
                distance_us[b] = std::min(
                    distance_us[b], distance_us[a] + delivery_us(network, static_cast<int>(a),
                                                                 static_cast<int>(b)));
            }
        }
    }
    return *std::max_element(distance_us.begin(), distance_us.end());
}

// Seen to fail with a choice by the sender's or the receiver's cost alone, and with children served
// in another order than the longest first: the mean, 1.015, gets worse than what is allowed here.
TEST(GreedyTree, IsNearTheBestOfAllTreesAndNeverBelowIt) {
    constexpr double never = std::numeric_limits<double>::infinity();
    double ratios = 0;
    int cases = 0;
    for (int size = 2; size <= 5; ++size) {
        for (unsigned seed = 0; seed < 40; ++seed) {
            const Network network = random_network(seed, size);
            for (int root = 0; root < size; ++root) {
                const auto tree = greedy_tree(network, root, length_bytes);
                ASSERT_TRUE(tree);
                ASSERT_TRUE(is_tree(*tree, root, size));
                std::vector<double> ready_us(static_cast<std::size_t>(size), never);
                ready_us[static_cast<std::size_t>(root)] = 0;
                const double best_us = optimum_us(network, ready_us, 0);
                const double greedy_us = completion_us(*tree, network, root, 0);
                EXPECT_GE(greedy_us, best_us * (1 - 1e-12));
                EXPECT_GE(best_us, farthest_us(network, root) * (1 - 1e-12));
                ratios += greedy_us / best_us;
                ++cases;
            }
        }
    }
    RecordProperty("mean_ratio", std::to_string(ratios / cases));
    EXPECT_LT(ratios / cases, 1.05);
}

TEST(GreedyTree, WithoutSendingCostsIsAsFastAsTheShortestPaths) {
    for (const int root : {0, 4, 8, 12, 16, 20}) {
        const Network network = test::six_sites();
        const auto tree = greedy_tree(network, root, length_bytes);
        ASSERT_TRUE(tree);
        EXPECT_DOUBLE_EQ(completion_us(*tree, network, root, 0), farthest_us(network, root));
    }
}

// With equal links and a send that costs as much as a link, the best that 8 hosts can do is the
// binomial tree's three rounds. Catches a sender that never gets busy.
TEST(GreedyTree, OfEqualHostsDoublesTheSendersEachRound) {
    Network network(8);
    for (int host = 0; host < 8; ++host) network.set_host(host, {.send_overhead_us = 10});
    const auto tree = greedy_tree(network, 3, 0);
    ASSERT_TRUE(tree);
    for (int host = 0; host < 8; ++host) {
        int depth = 0;
        for (int at = host; at != 3; at = tree->parent[static_cast<std::size_t>(at)]) ++depth;
        EXPECT_LE(depth, 3);
    }
    EXPECT_EQ(tree->children[3].size(), 3u);
}

}  // namespace
}  // namespace mutirao
