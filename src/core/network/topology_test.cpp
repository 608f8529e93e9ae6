// Two levels and the discovery of sites, on the paper's network and on made-up ones.
#include "core/network/topology.h"

#include <gtest/gtest.h>

#include "core/network/test_networks.h"
#include "core/schedule/predictor.h"

namespace mutirao {
namespace {

using test::children_of;

std::vector<int> labels_of_six_sites() {
    std::vector<int> labels;
    for (int host = 0; host < 24; ++host) labels.push_back(host / 4);
    return labels;
}

TEST(TwoLevelTree, OfTheSixSitesFromRootTwelve) {
    const Tree tree = two_level_tree(labels_of_six_sites(), 12);
    EXPECT_TRUE(test::is_tree(tree, 12, 24));
    EXPECT_EQ(children_of(tree, 12), (std::vector<int>{0, 4, 8, 16, 20, 14, 13}));
    EXPECT_EQ(children_of(tree, 14), (std::vector<int>{15}));
    EXPECT_EQ(children_of(tree, 8), (std::vector<int>{10, 9}));
    EXPECT_EQ(children_of(tree, 10), (std::vector<int>{11}));
    EXPECT_TRUE(tree.children[15].empty());
}

// Catches a root's site that is hung from its lowest host instead of the root.
TEST(TwoLevelTree, TheRootIsTheCoordinatorOfItsOwnSite) {
    const Tree tree = two_level_tree(labels_of_six_sites(), 14);
    EXPECT_TRUE(test::is_tree(tree, 14, 24));
    EXPECT_EQ(children_of(tree, 14), (std::vector<int>{0, 4, 8, 16, 20, 12, 15}));
    EXPECT_EQ(children_of(tree, 12), (std::vector<int>{13}));
}

TEST(TwoLevelTree, EntersEverySiteOnceWhateverTheLabels) {
    std::mt19937 random(3);
    for (int size = 1; size <= 30; ++size) {
        std::vector<int> site_of;
        for (int host = 0; host < size; ++host) {
            site_of.push_back(7 - static_cast<int>(random() % 5));
        }
        for (int root = 0; root < size; ++root) {
            const Tree tree = two_level_tree(site_of, root);
            ASSERT_TRUE(test::is_tree(tree, root, size));
            for (int host = 0; host < size; ++host) {
                const int above = tree.parent[static_cast<std::size_t>(host)];
                if (above < 0) continue;
                const bool between = site_of[static_cast<std::size_t>(above)] !=
                                     site_of[static_cast<std::size_t>(host)];
                if (!between) continue;
                EXPECT_EQ(above, root);
                const auto first = std::find(site_of.begin(), site_of.end(),
                                             site_of[static_cast<std::size_t>(host)]);
                EXPECT_EQ(first - site_of.begin(), host) << "the lowest host of its site";
            }
        }
    }
}

TEST(DiscoverSites, FindsTheSixOfThePaper) {
    EXPECT_EQ(discover_sites(test::six_sites()), labels_of_six_sites());
}

TEST(DiscoverSites, FindsThemWhateverTheHostsNumbersAndTheNoise) {
    const Network ordered = test::six_sites();
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> noise(0.7, 1.4);
        std::vector<int> place(24);
        for (int host = 0; host < 24; ++host) place[static_cast<std::size_t>(host)] = host;
        std::shuffle(place.begin(), place.end(), random);
        Network network(24);
        std::vector<int> expected;
        std::vector<int> label_of_site(6, -1);
        int sites = 0;
        for (int a = 0; a < 24; ++a) {
            const int from = place[static_cast<std::size_t>(a)];
            int& label = label_of_site[static_cast<std::size_t>(from / 4)];
            if (label < 0) label = sites++;
            expected.push_back(label);
            for (int b = 0; b < 24; ++b) {
                Link link = ordered.link(from, place[static_cast<std::size_t>(b)]);
                link.latency_us *= noise(random);
                network.set_link(a, b, link);
            }
        }
        EXPECT_EQ(discover_sites(network), expected) << "seed " << seed;
    }
}

TEST(DiscoverSites, IsOneSiteWithoutAWideGap) {
    Network even(6);
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 6; ++b) even.set_link(a, b, {.latency_us = 50.0 + a + b});
    }
    EXPECT_EQ(discover_sites(even), std::vector<int>(6, 0));
    Network quick(4);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            quick.set_link(a, b, {.latency_us = a / 2 == b / 2 ? 0.01 : 0.9});
        }
    }
    EXPECT_EQ(discover_sites(quick), std::vector<int>(4, 0)) << "all below what clocks can tell";
    EXPECT_EQ(discover_sites(Network(0)), std::vector<int>{});
    EXPECT_EQ(discover_sites(Network(1)), std::vector<int>{0});
    EXPECT_EQ(discover_sites(Network(5)), std::vector<int>(5, 0)) << "links that cost nothing";
}

// Catches a gap to infinity that hides every other.
TEST(DiscoverSites, KeepsHostsApartThatNothingConnects) {
    Network network = test::six_sites();
    for (int host = 0; host < 24; ++host) {
        if (host != 23) {
            network.set_both(host, 23, {.latency_us = std::numeric_limits<double>::infinity()});
        }
    }
    std::vector<int> expected = labels_of_six_sites();
    expected[23] = 6;
    EXPECT_EQ(discover_sites(network), expected);
}

/// Two pairs of hosts, so far apart and so far inside.
Network two_pairs(double inside_us, double between_us) {
    Network network(4);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < a; ++b) network.set_both(a, b, {.latency_us = a / 2 == b / 2 ? inside_us : between_us});
    }
    return network;
}

TEST(DiscoverSites, KeepsWhatIsKnownUntilLatenciesSpeakAgainstItByAQuarter) {
    const std::vector<int> apart = {0, 0, 1, 1}, together = {0, 0, 0, 0};
    for (const double ratio : {3.3, 3.9, 4.1, 4.9}) {  // alone these say either
        const Network network = two_pairs(500, ratio * 500);
        EXPECT_EQ(discover_sites(network, apart), apart) << ratio;
        EXPECT_EQ(discover_sites(network, together), together) << ratio;
        EXPECT_EQ(discover_sites(network), ratio < 4 ? together : apart) << ratio;
    }
    EXPECT_EQ(discover_sites(two_pairs(500, 3.1 * 500), apart), together);
    EXPECT_EQ(discover_sites(two_pairs(500, 5.1 * 500), together), apart);
    EXPECT_EQ(discover_sites(two_pairs(2400, 50'000), apart), apart) << "hardly farther than one local network";
    EXPECT_EQ(discover_sites(two_pairs(2600, 50'000), apart), together);
}

// Catches sites that are kept although a host has moved to another one, or although others are far clearer.
TEST(DiscoverSites, KeepsNothingThatTheNetworkNoLongerIs) {
    Network moved = two_pairs(500, 5000);
    for (const int other : {0, 1}) moved.set_both(2, other, {.latency_us = 500});
    moved.set_both(2, 3, {.latency_us = 5000});
    EXPECT_EQ(discover_sites(moved, {0, 0, 1, 1}), (std::vector<int>{0, 0, 0, 1}));
    Network split = two_pairs(500, 2500);
    split.set_both(0, 1, {.latency_us = 20});
    split.set_both(2, 3, {.latency_us = 20});
    EXPECT_EQ(discover_sites(split, {0, 0, 0, 0}), (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(discover_sites(split, {0, 0, 1}), (std::vector<int>{0, 0, 1, 1})) << "of other hosts";
}

constexpr double without_limit = std::numeric_limits<double>::infinity();

/// Two hosts in each of three sites; what lies between sites is as fast as the slower of their uplinks.
Network three_sites(const std::vector<double>& uplink_bytes_per_us, const std::vector<int>& site_of) {
    Network network(6);
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < a; ++b) {
            const int site_a = site_of[static_cast<std::size_t>(a)];
            const int site_b = site_of[static_cast<std::size_t>(b)];
            const double slower =
                std::min(uplink_bytes_per_us[static_cast<std::size_t>(site_a)],
                         uplink_bytes_per_us[static_cast<std::size_t>(site_b)]);
            network.set_both(a, b, {.latency_us = site_a == site_b ? 50.0 : 10'000.0,
                                    .bandwidth_bytes_per_us =
                                        site_a == site_b ? without_limit : slower});
        }
    }
    return network;
}

const std::vector<int> in_pairs = {0, 0, 1, 1, 2, 2};

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

/// Two messages of 100,000 bytes, at once, from one site to hosts in different sites.
double time_of_two_us(const Network& network, int first_sender, int second_sender) {
    const Region message{Buffer::output, 0, 100'000};
    std::vector<Schedule> schedules(6);
    schedules[static_cast<std::size_t>(first_sender)].send(2, message);
    schedules[2].receive(first_sender, message);
    schedules[static_cast<std::size_t>(second_sender)].send(4, message);
    schedules[4].receive(second_sender, message);
    return predict(schedules, network).completion_us;
}

TEST(Uplinks, AreSharedByAllHostsOfASite) {
    Network network = three_sites({1, 2, 2}, in_pairs);
    EXPECT_DOUBLE_EQ(time_of_two_us(network, 0, 1), 110'000);
    network.uplinks = uplinks_of(network, in_pairs);
    EXPECT_DOUBLE_EQ(time_of_two_us(network, 0, 1), 210'000);
    EXPECT_DOUBLE_EQ(time_of_two_us(network, 0, 0), 210'000);
}

TEST(Uplinks, AreSharedByWhatComesIn) {
    Network network = three_sites({2, 1, 2}, in_pairs);
    network.uplinks = uplinks_of(network, in_pairs);
    const Region message{Buffer::output, 0, 100'000};
    std::vector<Schedule> schedules(6);
    schedules[0].send(2, message);
    schedules[2].receive(0, message);
    schedules[4].send(3, message);
    schedules[3].receive(4, message);
    EXPECT_DOUBLE_EQ(predict(schedules, network).completion_us, 210'000);
}

TEST(Uplinks, AreNotUsedInsideASite) {
    Network network = three_sites({1, 1, 1}, in_pairs);
    network.uplinks = uplinks_of(network, in_pairs);
    const Region message{Buffer::output, 0, 100'000};
    std::vector<Schedule> schedules(6);
    schedules[0].send(1, message);
    schedules[1].receive(0, message);
    EXPECT_DOUBLE_EQ(predict(schedules, network).completion_us, 50);
}

}  // namespace
}  // namespace mutirao
