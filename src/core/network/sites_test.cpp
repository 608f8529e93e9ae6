// The discovery of sites and regions, on the paper's network and on made-up ones.
#include "core/network/sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

/// Two pairs of hosts, so far apart and so far inside.
Network two_pairs(double inside_us, double between_us) {
    return test::network_of_sites(4, 2, {.latency_us = inside_us}, {.latency_us = between_us});
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
    const Network even = test::network_of(6, [](int a, int b) { return Link{.latency_us = 50.0 + a + b}; });
    EXPECT_EQ(discover_sites(even), std::vector<int>(6, 0));
    EXPECT_EQ(discover_sites(two_pairs(0.01, 0.9)), std::vector<int>(4, 0)) << "all below what clocks can tell";
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
    std::vector<int> expected = test::labels_of_six_sites();
    expected[23] = 6;
    EXPECT_EQ(discover_sites(network), expected);
    Network even = test::uniform_network(4, {.latency_us = 10'000});
    for (const int host : {0, 1, 2}) even.set_both(host, 3, {.latency_us = std::numeric_limits<double>::infinity()});
    EXPECT_EQ(discover_sites(even), (std::vector<int>{0, 0, 0, 1})) << "where no gap parts any";
}

TEST(DiscoverSites, KeepsWhatIsKnownUntilLatenciesSpeakAgainstItByAQuarter) {
    const std::vector<int> apart = {0, 0, 1, 1}, together = {0, 0, 0, 0};
    for (const double ratio : {3.3, 3.9, 4.1}) {
        const Network network = two_pairs(500, ratio * 500);
        EXPECT_EQ(discover_sites(network, apart), apart) << ratio;
        EXPECT_EQ(discover_sites(network, together), ratio < 4 ? together : apart) << ratio;
        EXPECT_EQ(discover_sites(network), ratio < 4 ? together : apart) << ratio;
    }
    EXPECT_EQ(discover_sites(two_pairs(500, 3.1 * 500), apart), together);
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

TEST(DiscoverRegions, OfTheSixSitesAreThoseOfOneSideOfAnOcean) {
    const std::vector<int> region_of_site = {0, 1, 2, 0, 1, 0};  // 7 to 31 ms, 7 ms and a site alone; others 165 ms
    std::vector<int> expected;
    for (const int site : test::labels_of_six_sites()) expected.push_back(region_of_site[static_cast<std::size_t>(site)]);
    EXPECT_EQ(discover_regions(test::six_sites(), test::labels_of_six_sites()), expected);
}

/// Four hosts, each a site, whose distances from the first are these: a row of towns.
Network in_a_row(const std::vector<double>& at_ms) {
    return test::network_of(static_cast<int>(at_ms.size()), [&](int a, int b) {
        const double away_ms = at_ms[static_cast<std::size_t>(a)] - at_ms[static_cast<std::size_t>(b)];
        return Link{.latency_us = 1000 * std::abs(away_ms)};
    });
}

TEST(DiscoverRegions, AreTheSitesWhereNoneAreNear) {
    const std::vector<int> sites = {0, 1, 2, 3};
    EXPECT_EQ(discover_regions(in_a_row({0, 10, 20, 30}), sites), sites);
    EXPECT_EQ(discover_regions(in_a_row({0, 10, 30, 40}), sites), (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(discover_regions(Network(0), {}), std::vector<int>{});
    EXPECT_EQ(discover_regions(Network(3), {0, 0, 0}), (std::vector<int>{0, 0, 0}));
}

TEST(NamedSites, AreThoseOfTheFirstListThatFits) {
    const std::vector<std::string> hosts{"tokyo-1", "paris7", "lyon", "berlin", "paris8", "tokyo-x", "rome"};
    EXPECT_EQ(named_sites(hosts, "paris*,lyon;tokyo-[0-9]*"), (std::vector<int>{0, 1, 1, 2, 1, 3, 4}))
        << "who is named nowhere is alone";
    EXPECT_EQ(named_sites(hosts, "paris7;*"), (std::vector<int>{0, 1, 0, 0, 0, 0, 0}));
    EXPECT_EQ(named_sites({}, "a"), std::vector<int>{});
}

// What is believed of links beside one that got slow.

using test::labels_of_six_sites;
using test::six_sites;

constexpr double slow_us = 1'655'000, fast_us = 165'500;
constexpr int of_site_3 = 13, of_site_4 = 17;

class SharedLinesOfSixSites : public testing::Test {
  protected:
    /// What is believed once this was measured.
    Network after(const Network& measured, double at_us) {
        Network now = measured;
        lines_.suspect(now, believed_, labels_of_six_sites(), at_us);
        believed_ = now;
        return now;
    }
    static Network with(double latency_us, int a = of_site_3, int b = of_site_4) {
        Network network = six_sites();
        network.set_both(a, b, {.latency_us = latency_us});
        return network;
    }

    SharedLines lines_;
    Network believed_ = six_sites();
};

// Fault: a new tree went over the next pair of the same sites, and lost a call of 8 s to connecting it.
TEST_F(SharedLinesOfSixSites, OneSlowPairMakesTheOthersSlow) {
    const Network now = after(with(slow_us), 0);
    for (int a = 0; a < 24; ++a) {
        for (int b = 0; b < 24; ++b) {
            const bool same_sites = std::min(a / 4, b / 4) == 3 && std::max(a / 4, b / 4) == 4;
            EXPECT_EQ(now.link(a, b).latency_us, same_sites ? slow_us : six_sites().link(a, b).latency_us) << a << " " << b;
        }
    }
}

TEST_F(SharedLinesOfSixSites, AreBelievedToBeFastAgainAfterAWhile) {
    after(with(slow_us), 0);
    EXPECT_FALSE(lines_.doubts_are_over(1e6));
    EXPECT_EQ(after(with(slow_us), 1e6).link(12, 18).latency_us, slow_us) << "other news meanwhile";
    EXPECT_TRUE(lines_.doubts_are_over(6e6));
    const Network now = after(with(slow_us), 6e6);
    EXPECT_EQ(now.link(12, 18).latency_us, fast_us);
    EXPECT_EQ(now.link(of_site_3, of_site_4).latency_us, slow_us);
    EXPECT_FALSE(lines_.doubts_are_over(12e6));
}

TEST_F(SharedLinesOfSixSites, WhatIsMeasuredMeanwhileIsBelieved) {
    after(with(slow_us), 0);
    Network measured = with(slow_us);
    measured.set_both(12, 18, {.latency_us = 2'000'000});
    measured.set_both(12, 19, {.latency_us = 200'000});
    const Network now = after(measured, 1e6);
    EXPECT_EQ(now.link(18, 12).latency_us, 2'000'000);
    EXPECT_EQ(now.link(19, 12).latency_us, 200'000);
    EXPECT_EQ(now.link(12, 17).latency_us, slow_us);
}

TEST_F(SharedLinesOfSixSites, LoadALinkInsideASiteAndADeadOneSayNothingOfOthers) {
    for (const Network& measured : {with(1.9 * fast_us), with(20'000, 12, 0), with(slow_us, 12, 13),
                                    with(std::numeric_limits<double>::infinity())}) {
        believed_ = six_sites();
        EXPECT_EQ(after(measured, 0), measured);
    }
}

}  // namespace
}  // namespace mutirao
