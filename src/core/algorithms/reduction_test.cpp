#include "core/algorithms/reduction.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

TEST(Groups, AreNeighboursOfNearlyEqualNumber) {
    for (int size = 1; size <= 40; ++size) {
        for (int count = 1; count <= size; ++count) {
            const Groups groups(size, count, size / 3);
            EXPECT_EQ(groups.first(0), 0);
            EXPECT_EQ(groups.first(count), size);
            for (int group = 0; group < count; ++group) {
                const int members = groups.first(group + 1) - groups.first(group);
                EXPECT_GE(members, size / count);
                EXPECT_LE(members, (size - 1) / count + 1);
                EXPECT_EQ(groups.of(groups.leader(group)), group);
                for (int rank = groups.first(group); rank < groups.first(group + 1); ++rank) {
                    EXPECT_EQ(groups.of(rank), group);
                }
            }
            EXPECT_TRUE(groups.leads(size / 3));
        }
    }
}

TEST(LargestPower, IsNotBeyondItsLimit) {
    EXPECT_EQ(largest_power(2, 1), 1);
    EXPECT_EQ(largest_power(2, 2), 2);
    EXPECT_EQ(largest_power(2, 63), 32);
    EXPECT_EQ(largest_power(3, 27), 27);
    EXPECT_EQ(largest_power(8, 511), 64);
    EXPECT_EQ(largest_power(2, 2147483647), 1 << 30);
}

/// One rank combines the operands of all.
Schedule combined(int rank, int size, std::size_t length) {
    Dataflow flow;
    Partial partial = whole_message(flow, {.rank = rank, .size = size, .length_bytes = length},
                                    true);
    partial.combine(ranks_from(0, rank), ranks_from(rank + 1, size));
    return std::move(flow).take();
}

// Otherwise a reduction of long messages at the root would need all of them at once.
TEST(Partial, KeepsAFewLongMessagesAtATimeAndAllShortOnes) {
    EXPECT_LE(combined(50, 100, 10'000'000).scratch_bytes(), 40'000'000u);
    const Schedule shorter = combined(50, 100, 64);
    for (const Step& step : shorter.steps()) {
        if (step.kind != StepKind::receive) continue;
        EXPECT_TRUE(shorter.dependencies(step).empty());
    }
}

}  // namespace
}  // namespace mutirao
