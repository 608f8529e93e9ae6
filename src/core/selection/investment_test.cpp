// When a private communicator is made, held against what it costs and wins by hand.
#include "core/selection/investment.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

constexpr double s = 1e6;

ProgramRun run_of(double length_s, std::optional<double> saved_share) {
    return {.ranks = {8, 8, 1}, .length_s = length_s, .saved_share = saved_share};
}

TEST(Investment, AnUnknownProgramIsTakenToBeHalfWay) {
    EXPECT_TRUE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 2 * s}));
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 9.9 * s, .gain_us = 5 * s})) << "a tenth may be lost";
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 1.9 * s}));
}

TEST(Investment, WhatWonBeforePaysAtOnce) {
    EXPECT_TRUE(pays({.cost_us = 1 * s, .ran_us = 1 * s, .before = run_of(20, 0.3)})) << "19 s at 0.3 win 5.7";
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 1 * s, .before = run_of(7, 0.3)})) << "6 s at 0.3 win 1.8";
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 15 * s, .gain_us = 9 * s, .before = run_of(20, 0.3)}))
        << "too late to win it back";
}

TEST(Investment, WhatWonNothingBeforeIsTriedLater) {
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 39 * s, .gain_us = 10 * s, .before = run_of(300, 0)}));
    EXPECT_TRUE(pays({.cost_us = 1 * s, .ran_us = 40 * s, .gain_us = 10 * s, .before = run_of(300, 0)}));
}

TEST(Investment, AProgramOfKnownLengthWinsUntilItsEndOnly) {
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 9 * s, .before = run_of(24, {})}))
        << "half is over before it is made";
    EXPECT_TRUE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 2 * s, .before = run_of(25, {})}));
    EXPECT_TRUE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 0.3 * s, .before = run_of(100, {})}))
        << "0.03 a second for 90 s";
    EXPECT_FALSE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 5 * s, .before = run_of(9, {})}))
        << "it ends any moment";
    EXPECT_TRUE(pays({.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 2 * s, .before = run_of(7.9, 0)}))
        << "it goes on longer than before: nothing is known of that";
}

TEST(Investment, WhatTheRunsOfAProgramSayTogether) {
    const ProgramRun again = newest(run_of(10, 0.4), run_of(12, {}));
    EXPECT_EQ(again.length_s, 12);
    EXPECT_EQ(again.saved_share, 0.4) << "nothing new was found out";
    EXPECT_EQ(newest(run_of(10, 0.4), run_of(12, 0.1)).saved_share, 0.1);
}

}  // namespace
}  // namespace mutirao
