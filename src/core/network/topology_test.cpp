// Two levels and the uplinks of sites, on the paper's network and on made-up ones.
#include "core/network/topology.h"

#include <gtest/gtest.h>

#include "core/network/test_networks.h"
#include "core/schedule/predictor.h"
#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

TEST(TwoLevelTree, OfTheSixSitesFromRootTwelve) {
    const Tree tree = two_level_tree(test::labels_of_six_sites(), 12);
    EXPECT_TRUE(test::is_tree(tree, 12, 24));
    EXPECT_EQ(tree.children[12], (std::vector<int>{0, 4, 8, 16, 20, 14, 13}));
    EXPECT_EQ(tree.children[14], (std::vector<int>{15}));
    EXPECT_EQ(tree.children[8], (std::vector<int>{10, 9}));
    EXPECT_EQ(tree.children[10], (std::vector<int>{11}));
    EXPECT_TRUE(tree.children[15].empty());
}

// Catches a root's site that is hung from its lowest host instead of the root.
TEST(TwoLevelTree, EntersEverySiteOnceWhateverTheLabels) {
    std::mt19937 random(3);
    for (int size = 1; size <= 30; ++size) {
        std::vector<int> site_of;
        for (int host = 0; host < size; ++host) site_of.push_back(7 - static_cast<int>(random() % 5));
        for (int root = 0; root < size; ++root) {
            const Tree tree = two_level_tree(site_of, root);
            ASSERT_TRUE(test::is_tree(tree, root, size));
            for (std::size_t host = 0; host < site_of.size(); ++host) {
                const int above = tree.parent[host];
                if (above < 0 || site_of[static_cast<std::size_t>(above)] == site_of[host]) continue;
                EXPECT_EQ(above, root);
                const auto lowest = std::ranges::find(site_of, site_of[host]);
                EXPECT_EQ(static_cast<std::size_t>(lowest - site_of.begin()), host) << "the lowest host of its site";
            }
        }
    }
}

constexpr double without_limit = std::numeric_limits<double>::infinity();

/// Two hosts in each of three sites; what lies between sites is as fast as the slower of their uplinks.
Network three_sites(const std::vector<double>& uplink_bytes_per_us, const std::vector<int>& site_of) {
    return test::network_of(6, [&](int a, int b) {
        const auto site_a = static_cast<std::size_t>(site_of[static_cast<std::size_t>(a)]);
        const auto site_b = static_cast<std::size_t>(site_of[static_cast<std::size_t>(b)]);
        return site_a == site_b ? Link{50, without_limit}
                                : Link{10'000, std::min(uplink_bytes_per_us[site_a], uplink_bytes_per_us[site_b])};
    });
}

const std::vector<int> in_pairs = {0, 0, 1, 1, 2, 2};

// Catches a bound above what is possible where trees prefer what is connected.
TEST(LatencyBound, AsksForNoConnections) {
    Network network = test::uniform_network(3, {.latency_us = 500});
    network.set_both(0, 2, {.latency_us = 1000});
    network.set_both(1, 2, {.latency_us = 499});
    network.connected = std::make_shared<const EdgeList>(EdgeList{{0, 2}});
    EXPECT_EQ(shortest_path_tree(network, 0, 0)->parent[2], 0);
    EXPECT_EQ(latency_bound_us(network, 0), 999);
}

TEST(Uplinks, AreAsFastAsTheFastestWay) {
    const auto uplinks = uplinks_of(three_sites({1, 2, 5}, in_pairs), in_pairs);
    EXPECT_EQ(uplinks.of_host, in_pairs);
    EXPECT_EQ(uplinks.bytes_per_us, (std::vector<double>{1, 2, 2}));  // no way shows the 5
}

TEST(Uplinks, AreNoneWhereNothingIsLimitedOrThereIsOneSite) {
    EXPECT_TRUE(uplinks_of(three_sites({without_limit, without_limit, without_limit}, in_pairs),
                           in_pairs).of_host.empty());
    EXPECT_TRUE(uplinks_of(Network(4), {0, 0, 0, 0}).of_host.empty());
}

double time_us(const Network& network, const std::vector<std::pair<int, int>>& ways) {
    return test::predict(test::messages(6, ways, 100'000), network).completion_us;
}

TEST(Uplinks, AreSharedByWhatLeavesASiteAndByWhatComesIn) {
    Network network = three_sites({1, 2, 2}, in_pairs);
    EXPECT_DOUBLE_EQ(time_us(network, {{0, 2}, {1, 4}}), 110'000);
    network.uplinks = uplinks_of(network, in_pairs);
    EXPECT_DOUBLE_EQ(time_us(network, {{0, 2}, {1, 4}}), 210'000);
    EXPECT_DOUBLE_EQ(time_us(network, {{0, 2}, {0, 4}}), 210'000);
    EXPECT_DOUBLE_EQ(time_us(network, {{2, 0}, {4, 1}}), 210'000);
    EXPECT_DOUBLE_EQ(time_us(network, {{0, 1}}), 50) << "inside a site";
}

}  // namespace
}  // namespace mutirao
