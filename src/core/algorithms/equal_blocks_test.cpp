#include "core/algorithms/equal_blocks.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

using Runs = std::vector<BlockRun>;

TEST(EqualBlocks, LieOneBehindAnother) {
    EXPECT_EQ(blocks_from(Buffer::scratch, 2, 3, 10), (Region{Buffer::scratch, 20, 30}));
}

TEST(EqualBlocks, AreTwoRunsIfTheyGoOverTheEnd) {
    EXPECT_EQ(runs_of(1, 3, 5), (Runs{{1, 3, 0}}));
    EXPECT_EQ(runs_of(3, 2, 5), (Runs{{3, 2, 0}}));
    EXPECT_EQ(runs_of(3, 4, 5), (Runs{{3, 2, 0}, {0, 2, 2}}));
    EXPECT_EQ(runs_of(5, 2, 5), (Runs{{0, 2, 0}}));
    EXPECT_EQ(runs_of(-1, 2, 5), (Runs{{4, 1, 0}, {0, 1, 1}}));
    EXPECT_EQ(runs_of(2, 0, 5), Runs{});
}

}  // namespace
}  // namespace mutirao
