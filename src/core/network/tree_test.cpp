#include "core/network/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

using test::is_tree;
using test::random_network;
using test::six_sites;

constexpr double never = std::numeric_limits<double>::infinity();

double transfer_us(const Network& network, int from, int to, std::size_t length_bytes) {
    const Link link = network.link(from, to);
    return link.latency_us + static_cast<double>(length_bytes) / link.bandwidth_bytes_per_us;
}

/// When the last host at or below this one has its message.
double last_below_us(const Tree& tree, const std::vector<double>& arrival_us, int host) {
    double last_us = arrival_us[static_cast<std::size_t>(host)];
    for (const int child : tree.children[static_cast<std::size_t>(host)])
        last_us = std::max(last_us, last_below_us(tree, arrival_us, child));
    return last_us;
}

void expect_longest_first(const Tree& tree, const Network& network, std::size_t length_bytes) {
    const std::vector<double> arrival_us = arrivals_us(tree, network, length_bytes);
    for (const std::vector<int>& children : tree.children)
        for (std::size_t i = 1; i < children.size(); ++i)
            EXPECT_GE(last_below_us(tree, arrival_us, children[i - 1]), last_below_us(tree, arrival_us, children[i]));
}

// Catches children in the order of the edges, and an order by the child's own link only.
TEST(HangFrom, HangsTheSameEdgesFromAnyRootLongestPathFirst) {
    std::mt19937 random(7);
    for (int size = 1; size <= 20; ++size) {
        const Network network = random_network(static_cast<unsigned>(size), size);
        const EdgeList edges = test::random_spanning_edges(random, size);
        for (int root = 0; root < size; ++root) {
            const auto tree = hang_from(edges, root, network);
            ASSERT_TRUE(tree);
            EXPECT_TRUE(is_tree(*tree, root, size));
            for (const auto& [a, b] : edges) {
                EXPECT_TRUE(tree->parent[static_cast<std::size_t>(a)] == b ||
                            tree->parent[static_cast<std::size_t>(b)] == a);
            }
            expect_longest_first(*tree, network, 0);
        }
    }
}

TEST(HangFrom, BreaksTiesByHostNumber) {
    Network network(4);
    const auto tree = hang_from({{3, 0}, {2, 0}, {0, 1}}, 0, network);
    EXPECT_EQ(tree->children[0], (std::vector<int>{1, 2, 3}));
}

TEST(HangFrom, RefusesEdgesThatDoNotSpan) {
    Network network(4);
    EXPECT_TRUE(hang_from({{0, 1}, {1, 2}, {2, 3}}, 0, network));
    EXPECT_FALSE(hang_from({{0, 1}, {1, 2}}, 0, network)) << "host 3 is missing";
    EXPECT_FALSE(hang_from({{0, 1}, {1, 2}, {2, 0}}, 0, network)) << "a cycle";
    EXPECT_FALSE(hang_from({{1, 2}, {2, 3}, {3, 1}}, 0, network)) << "a cycle beside the root";
    EXPECT_FALSE(hang_from({{0, 1}, {1, 0}, {2, 3}}, 0, network)) << "one edge twice";
    EXPECT_FALSE(hang_from({{0, 1}, {1, 1}, {2, 3}}, 0, network)) << "a host with itself";
    EXPECT_FALSE(hang_from({{0, 1}, {1, 2}, {2, 4}}, 0, network)) << "no such host";
    EXPECT_FALSE(hang_from({{0, 1}, {1, 2}, {2, -1}}, 0, network)) << "no such host";
    network.set_link(1, 2, {.latency_us = never});
    EXPECT_FALSE(hang_from({{0, 1}, {1, 2}, {2, 3}}, 0, network)) << "nothing gets from 1 to 2";
    EXPECT_TRUE(hang_from({{0, 1}, {1, 2}, {2, 3}}, 3, network)) << "only 2 to 1 is needed";
}

// Catches the two directions of a link mixed up, and a weight without its latency.
TEST(ShortestPathTree, IsAsShortAsBellmanAndFordSay) {
    for (int size = 1; size <= 16; ++size) {
        const Network network = random_network(100 + static_cast<unsigned>(size), size);
        for (const std::size_t length : {0u, 1u, 5000u}) {
            const auto link_us = [&](int from, int to) { return transfer_us(network, from, to, length); };
            for (int root = 0; root < size; ++root) {
                const std::vector<double> distance_us = test::shortest_us(size, root, link_us);
                const auto tree = shortest_path_tree(network, root, length);
                ASSERT_TRUE(tree);
                ASSERT_TRUE(is_tree(*tree, root, size));
                expect_longest_first(*tree, network, length);
                const std::vector<double> arrival_us = arrivals_us(*tree, network, length);
                for (std::size_t host = 0; host < arrival_us.size(); ++host)
                    EXPECT_NEAR(arrival_us[host], distance_us[host], 1e-6);
            }
        }
    }
}

TEST(ShortestPathTree, GoesRoundUnusableLinksAndSaysWhereAHostCannotBeReached) {
    Network network(3);
    network.set_both(0, 1, {.latency_us = 5});
    network.set_both(1, 2, {.latency_us = 5});
    network.set_both(0, 2, {.latency_us = never});
    EXPECT_EQ(shortest_path_tree(network, 0, 10)->parent, (std::vector<int>{-1, 0, 1}));
    EXPECT_EQ(greedy_tree(network, 0, 10)->parent, (std::vector<int>{-1, 0, 1}));
    network.set_link(1, 2, {.latency_us = never});
    EXPECT_FALSE(shortest_path_tree(network, 0, 10));
    EXPECT_FALSE(greedy_tree(network, 0, 10));
    EXPECT_TRUE(shortest_path_tree(network, 2, 10)) << "the way back is there";
    EXPECT_TRUE(greedy_tree(network, 2, 10));
    network.set_link(1, 2, {.latency_us = 5, .bandwidth_bytes_per_us = 0});
    EXPECT_TRUE(shortest_path_tree(network, 0, 0)) << "an empty message needs no bandwidth";
    EXPECT_FALSE(shortest_path_tree(network, 0, 1));
}

// Fault: after a change in MPICH the first call over a new way waited for one connection after the other.
TEST(ShortestPathTree, PrefersConnectedHostsWherePathsAreNearlyAlike) {
    Network network = six_sites();
    network.set_both(2, 16, {.latency_us = 166'000});  // the way is 173.450 ms long, others 173.850
    for (int host = 12; host < 16; ++host) {
        for (int other = 16; other < 20; ++other) network.set_both(host, other, {.latency_us = 1'655'000});
    }
    EXPECT_EQ(shortest_path_tree(network, 12, 0)->parent[16], 2);
    network.connected = std::make_shared<const EdgeList>(EdgeList{{0, 12}, {0, 16}, {14, 17}});
    const auto tree = shortest_path_tree(network, 12, 0);
    EXPECT_EQ(tree->parent[16], 0);
    EXPECT_NE(tree->parent[17], 14) << "ten times as long";
    network.connected.reset();
    EXPECT_EQ(shortest_path_tree(network, 12, 0)->parent[16], 2);
}

TEST(ShortestPathTree, ConnectedHostsCostAtMostTheirShare) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const int size = 2 + static_cast<int>(random() % 12);
        Network network = random_network(seed, size);
        const std::vector<double> least_us = arrivals_us(*shortest_path_tree(network, 0, 100), network, 100);
        EdgeList connected;
        for (int low = 0; low < size; ++low) {
            for (int high = low + 1; high < size; ++high) {
                if (random() % 2 == 0) connected.emplace_back(low, high);
            }
        }
        network.connected = std::make_shared<const EdgeList>(connected);
        const std::vector<double> us = arrivals_us(*shortest_path_tree(network, 0, 100), network, 100);
        for (int host = 0; host < size; ++host) {
            const auto at = static_cast<std::size_t>(host);
            EXPECT_LE(us[at], least_us[at] * (1 + connecting_share) + 1e-9) << "seed " << seed;
        }
    }
}

// The greedy tree against every tree and every order of serving that there is.

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
    const auto link_us = [&](int from, int to) { return delivery_us(network, from, to); };
    return std::ranges::max(test::shortest_us(network.host_count(), root, link_us));
}

// Seen to fail with a choice by the sender's or the receiver's cost alone, and with children served
// in another order than the longest first: the mean, 1.015, gets worse than what is allowed here.
TEST(GreedyTree, IsNearTheBestOfAllTreesAndNeverBelowIt) {
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
    const Network network = test::uniform_network(8, {}, {.send_overhead_us = 10});
    const auto tree = greedy_tree(network, 3, 0);
    ASSERT_TRUE(tree);
    for (int host = 0; host < 8; ++host) {
        int depth = 0;
        for (int at = host; at != 3; at = tree->parent[static_cast<std::size_t>(at)]) ++depth;
        EXPECT_LE(depth, 3);
    }
    EXPECT_EQ(tree->children[3].size(), 3u);
}

/// Whether links that are lighter than this one join its ends.
bool has_lighter_way(const std::vector<Weight>& links, const Weight& than) {
    std::set<int> reached{than.low};
    for (std::size_t round = 0; round < links.size(); ++round) {
        for (const Weight& link : links) {
            if (link < than && (reached.contains(link.low) || reached.contains(link.high)))
                reached.insert({link.low, link.high});
        }
    }
    return reached.contains(than.high);
}

// A forest is the lightest if the ends of every link that it leaves out, and of none that it has, are joined by lighter
// ones of its own.
TEST(Kruskal, LeavesOutWhatLighterLinksReplaceAndNothingElse) {
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        const int hosts = 1 + static_cast<int>(random() % 12);
        std::vector<Weight> links;
        for (int low = 0; low < hosts; ++low)
            for (int high = low + 1; high < hosts; ++high)
                if (random() % 3 == 0) links.push_back({static_cast<double>(random() % 6), low, high});
        std::ranges::shuffle(links, random);
        const std::vector<Weight> forest = lightest_forest(hosts, links);
        for (const Weight& link : links) {
            const bool taken = std::ranges::find(forest, link) != forest.end();
            EXPECT_NE(has_lighter_way(forest, link), taken) << "round " << round;
        }
    }
}

TEST(Kruskal, OfANetworkTakesTheSlowerDirectionAndSkipsUnusableLinks) {
    Network network(4);
    network.set_link(0, 1, {.latency_us = 1});
    network.set_link(1, 0, {.latency_us = 9});
    network.set_both(0, 2, {.latency_us = 5});
    network.set_both(1, 2, {.latency_us = 6});
    network.set_link(0, 3, {.latency_us = 1});
    network.set_link(3, 0, {.latency_us = never});
    network.set_both(1, 3, {.latency_us = never});
    network.set_both(2, 3, {.latency_us = never});
    EXPECT_EQ(links_of(network), (std::vector<Weight>{{9, 0, 1}, {5, 0, 2}, {6, 1, 2}}));
    EXPECT_EQ(minimum_spanning_tree(network), (EdgeList{{0, 2}, {1, 2}}));
    EXPECT_EQ(kruskal(2, {{never, 0, 1}}), EdgeList{});
    EXPECT_EQ(minimum_spanning_tree(Network(0)), EdgeList{});
}

}  // namespace
}  // namespace mutirao
