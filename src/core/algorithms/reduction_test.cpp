#include "core/algorithms/reduction.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

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
