#include "core/algorithms/equal_blocks.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

using Runs = std::vector<BlockRun>;

TEST(EqualBlocks, AreTwoRunsIfTheyGoOverTheEnd) {
    EXPECT_EQ(runs_of(1, 3, 5), (Runs{{1, 3, 0}}));
    EXPECT_EQ(runs_of(3, 2, 5), (Runs{{3, 2, 0}}));
    EXPECT_EQ(runs_of(3, 4, 5), (Runs{{3, 2, 0}, {0, 2, 2}}));
    EXPECT_EQ(runs_of(5, 2, 5), (Runs{{0, 2, 0}}));
    EXPECT_EQ(runs_of(-1, 2, 5), (Runs{{4, 1, 0}, {0, 1, 1}}));
    EXPECT_EQ(runs_of(2, 0, 5), Runs{});
}

TEST(RankBlocks, AreEqualUnlessTheirLengthsAreGiven) {
    const Request equal{.rank = 1, .size = 3, .length_bytes = 4};
    EXPECT_EQ(blocks_of(equal).block(2), (Region{Buffer::output, 8, 4}));
    EXPECT_EQ(blocks_of(equal).range(2, 5, Buffer::scratch), (Region{Buffer::scratch, 8, 12}));
    EXPECT_EQ(blocks_received(equal).block(2), (Region{Buffer::output, 8, 4}));
    EXPECT_EQ(own_length_bytes(equal), 4u);
    EXPECT_EQ(longest_block_bytes(equal), 4u);

    const std::size_t lengths[] = {5, 0, 7};
    const Request uneven{.rank = 2, .size = 3, .length_bytes = 4, .lengths = lengths};
    EXPECT_EQ(blocks_of(uneven).block(2), (Region{Buffer::output, 5, 7}));
    EXPECT_EQ(blocks_from_rank(uneven, 2).block(1), (Region{Buffer::output, 7, 5}));
    EXPECT_EQ(own_input(uneven), (Region{Buffer::input, 0, 7}));
    EXPECT_EQ(longest_block_bytes(uneven), 7u);
}

TEST(RankBlocks, OfARankThatKnowsOnlyItsOwn) {
    const std::size_t own[] = {9};
    const Request request{.rank = 2, .size = 3, .length_bytes = 4, .lengths = own};
    EXPECT_EQ(own_input(request), (Region{Buffer::input, 0, 9}));

    const std::size_t sent_and_received[] = {1, 2, 3, 4, 5, 6};
    const Request exchange{.rank = 2, .size = 3, .lengths = sent_and_received};
    EXPECT_EQ(blocks_sent(exchange).block(1, Buffer::input), (Region{Buffer::input, 1, 2}));
    EXPECT_EQ(blocks_received(exchange).block(1), (Region{Buffer::output, 4, 5}));
}

}  // namespace
}  // namespace mutirao
