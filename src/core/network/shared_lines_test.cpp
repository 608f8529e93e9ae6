// What is believed of links beside one that got slow.
#include "core/network/sites.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

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
