#include "core/selection/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/network/test_networks.h"
#include "core/selection/test_candidates.h"

namespace mutirao {
namespace {

using test::topology_of;

constexpr double never = std::numeric_limits<double>::infinity();

/// Latencies only, as between sites.
Network random_latencies(unsigned seed, int host_count) {
    Network network = test::random_network(seed, host_count);
    for (int a = 0; a < host_count; ++a) {
        network.set_host(a, {});
        for (int b = 0; b < host_count; ++b) {
            if (a != b) network.set_link(a, b, Link{.latency_us = network.link(a, b).latency_us});
        }
    }
    return network;
}

/// A tree each of whose hosts hangs below an earlier one.
Tree random_tree(unsigned seed, int host_count) {
    std::mt19937 random(seed);
    Tree tree{0, {-1}, {}};
    for (int host = 1; host < host_count; ++host) {
        const int parent = static_cast<int>(random() % static_cast<unsigned>(host));
        tree.parent.push_back(parent);
    }
    tree.children = ChildLists::from_parents(tree.parent);
    return tree;
}

double arrival_us(const Tree& tree, const Network& network, int host) {
    double sum_us = 0;
    for (int at = host; at != tree.root; at = tree.parent[static_cast<std::size_t>(at)]) {
        sum_us += network.link(tree.parent[static_cast<std::size_t>(at)], at).latency_us;
    }
    return sum_us;
}

double last_arrival_us(const Tree& tree, const Network& network) {
    double last_us = 0;
    for (int host = 0; host < tree.size(); ++host) {
        last_us = std::max(last_us, arrival_us(tree, network, host));
    }
    return last_us;
}

/// Floyd and Warshall's, from one host.
double bound_us(const Network& network, int root) {
    const int hosts = network.host_count();
    std::vector<std::vector<double>> us(static_cast<std::size_t>(hosts));
    for (int a = 0; a < hosts; ++a) {
        for (int b = 0; b < hosts; ++b) {
            us[static_cast<std::size_t>(a)].push_back(a == b ? 0 : network.link(a, b).latency_us);
        }
    }
    for (std::size_t via = 0; via < us.size(); ++via) {
        for (auto& row : us) {
            for (std::size_t to = 0; to < us.size(); ++to) {
                row[to] = std::min(row[to], row[via] + us[via][to]);
            }
        }
    }
    const auto& row = us[static_cast<std::size_t>(root)];
    return *std::max_element(row.begin(), row.end());
}

TEST(Renewal, PredictsTheLongestPathWhereOnlyLatencyCounts) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Network network = random_latencies(seed, 9);
        const Tree tree = random_tree(seed, 9);
        EXPECT_NEAR(*predict_tree(tree, network, 24), last_arrival_us(tree, network), 1e-6);
        EXPECT_NEAR(*predict_tree(*fastest_tree(topology_of(network), 3, 24), network, 24),
                    bound_us(network, 3), 1e-6);
    }
}

// Caught when planted: tolerance not looked at.
TEST(Renewal, KeepsATreeThatIsNearlyAsFastAsTheBest) {
    int kept = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Network before = random_latencies(seed, 10);
        const Tree present = *shortest_path_tree(before, 0, 24);
        Network now = before;
        std::mt19937 random(seed);
        for (int change = 0; change < 4; ++change) {
            const int a = static_cast<int>(random() % 10);
            const int b = (a + 1 + static_cast<int>(random() % 9)) % 10;
            now.set_both(a, b, Link{.latency_us = now.link(a, b).latency_us * 4});
        }
        const auto renewal = renew(present, topology_of(now), 24, 10);
        ASSERT_TRUE(renewal);
        const double bound = bound_us(now, 0);
        const bool near = last_arrival_us(present, now) <= 1.1 * bound;
        EXPECT_NEAR(renewal->best_us, bound, 1e-6);
        EXPECT_NEAR(renewal->predicted_us, last_arrival_us(renewal->tree, now), 1e-6);
        EXPECT_LE(renewal->predicted_us, near ? 1.1 * bound + 1e-6 : bound + 1e-6);
        EXPECT_EQ(renewal->tree == present, near) << seed;
        EXPECT_EQ(renewal->kept, near) << seed;
        kept += near ? 1 : 0;
    }
    EXPECT_GT(kept, 50);
    EXPECT_LT(kept, 250);
}

TEST(Renewal, FollowsAHostThatTheOldTreeCannotReach) {
    Network network = random_latencies(1, 6);
    const Tree present = *shortest_path_tree(network, 0, 24);
    for (int host = 1; host < 6; ++host) {
        const int parent = present.parent[static_cast<std::size_t>(host)];
        network.set_both(host, parent, Link{.latency_us = never});
    }
    EXPECT_FALSE(predict_tree(present, network, 24));
    const auto renewal = renew(present, topology_of(network), 24);
    ASSERT_TRUE(renewal);
    EXPECT_TRUE(std::isfinite(renewal->predicted_us));
    for (int host = 1; host < 6; ++host) network.set_both(host, 0, Link{.latency_us = never});
    EXPECT_FALSE(renew(present, topology_of(network), 24)) << "nobody can be reached";
}

}  // namespace
}  // namespace mutirao
