#include "core/selection/account.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mutirao {
namespace {

constexpr Ratio half_slower{1.5, 1e-4};

TEST(Bookkeeping, CallsWaitForTheirTime) {
    Bookkeeping books;
    EXPECT_EQ(books.count(5, {.natively = true}), 0);
    EXPECT_EQ(books.count(3, {.natively = true, .time_us = 10}), 80);
    EXPECT_EQ(books.account().took_us, 80);
    EXPECT_EQ(books.account().saved_us, 0);
}

TEST(Bookkeeping, WithNothingToCompareWithCallsAreUnknown) {
    Bookkeeping books;
    books.count(4, {.time_us = 10});
    books.count(6, {});
    EXPECT_EQ(books.account().unknown_calls, 10u);
    books.count(1, {.time_us = 10, .native_to_it = half_slower});
    EXPECT_EQ(books.account().unknown_calls, 4u);
    EXPECT_DOUBLE_EQ(books.account().saved_us, 7 * 5);
}

TEST(Bookkeeping, WhatIsNotAnnouncedYetCountsAsWhatRuns) {
    Bookkeeping books;
    books.count(1, {.time_us = 10, .native_to_it = half_slower});
    EXPECT_EQ(books.count_as_before(3), 30);
    EXPECT_DOUBLE_EQ(books.account().saved_us, 4 * 5);
    books.add_probe(7);
    EXPECT_EQ(books.account().probes_us, 7);
}

// One ratio is wrong for all of its calls alike; two are not wrong together.
TEST(Bookkeeping, ErrorsAddUpWithinAComparisonAndNotAcross) {
    Bookkeeping once, anew;
    const Bookkeeping::Running running{.time_us = 10, .native_to_it = half_slower};
    for (Bookkeeping* const each : {&once, &anew}) each->count(100, running);
    anew.compare_anew();
    for (Bookkeeping* const each : {&once, &anew}) each->count(100, running);
    EXPECT_NEAR(once.account().error_us, 200 * 10 * 1.5 * 1.96 * 0.01, 1e-9);
    EXPECT_NEAR(anew.account().error_us * std::sqrt(2), once.account().error_us, 1e-9);
}

}  // namespace
}  // namespace mutirao
