#include "core/algorithms/shape.h"

#include <gtest/gtest.h>

#include "core/algorithms/equal_blocks.h"

namespace mutirao {
namespace {

TEST(OthersOf, TheNextOneComesFirst) {
    EXPECT_EQ(others_of(2, 4), (std::vector<int>{3, 0, 1}));
    EXPECT_EQ(others_of(0, 1), std::vector<int>{});
}

// The tree that the paper draws for MPICH: 12 sends to 20, and 20 to 0.
TEST(KNomial, RadixTwoIsTheTreeThatThePaperShowsForMpich) {
    const TreePlace root = with_real_ranks(k_nomial_place(0, 24, 2), 12, 24);
    EXPECT_EQ(root, (TreePlace{-1, {4, 20, 16, 14, 13}}));
    const TreePlace twenty = with_real_ranks(k_nomial_place(8, 24, 2), 12, 24);
    EXPECT_EQ(twenty, (TreePlace{12, {0, 22, 21}}));
}

TEST(KNomial, RadixThreeByHand) {
    EXPECT_EQ(k_nomial_place(0, 11, 3), (TreePlace{-1, {9, 3, 6, 1, 2}}));
    EXPECT_EQ(k_nomial_place(9, 11, 3), (TreePlace{0, {10}}));
    EXPECT_EQ(k_nomial_place(3, 11, 3), (TreePlace{0, {4, 5}}));
    EXPECT_EQ(k_nomial_place(8, 11, 3), (TreePlace{6, {}}));
}

TEST(Blocks, CoverTheMessageInOrderAndDifferByAByte) {
    for (const std::size_t length : {0u, 1u, 5u, 97u, 128u}) {
        for (const int count : {1, 2, 3, 7, 64}) {
            const Blocks blocks(length, count);
            std::size_t covered = 0;
            for (int i = 0; i < count; ++i) {
                EXPECT_EQ(blocks.block(i).offset_bytes, covered);
                covered += blocks.block(i).length_bytes;
                EXPECT_GE(blocks.block(0).length_bytes, blocks.block(i).length_bytes);
                EXPECT_LE(blocks.block(0).length_bytes, blocks.block(i).length_bytes + 1);
                EXPECT_EQ(blocks.range(0, i + 1).length_bytes, covered);
            }
            EXPECT_EQ(covered, length);
        }
    }
}

TEST(Blocks, OfGivenLengthsLieOneBehindAnother) {
    const std::size_t lengths[] = {3, 0, 5};
    const Blocks blocks(lengths);
    EXPECT_EQ(blocks.block(0), (Region{Buffer::output, 0, 3}));
    EXPECT_EQ(blocks.block(1, Buffer::input), (Region{Buffer::input, 3, 0}));
    EXPECT_EQ(blocks.block(2), (Region{Buffer::output, 3, 5}));
    EXPECT_EQ(blocks.range(0, 3), (Region{Buffer::output, 0, 8}));
}

TEST(RankBlocks, TheLongestIsKnownWhereAllAre) {
    const std::size_t lengths[] = {5, 0, 7};
    EXPECT_EQ(longest_block_bytes({.rank = 2, .size = 3, .length_bytes = 4, .lengths = lengths}), 7u);
    EXPECT_EQ(longest_block_bytes({.rank = 1, .size = 3, .length_bytes = 4}), 4u);
}

TEST(Segments, CutTheWholeAndOnlyTheLastIsShort) {
    const auto at = [](std::size_t offset, std::size_t length) {
        return Region{Buffer::output, offset, length};
    };
    EXPECT_EQ(segments_of(at(10, 0), 4), std::vector<Region>{});
    EXPECT_EQ(segments_of(at(10, 7), 0), std::vector<Region>{at(10, 7)});
    EXPECT_EQ(segments_of(at(10, 7), 4), (std::vector<Region>{at(10, 4), at(14, 3)}));
    EXPECT_EQ(segments_of(at(10, 8), 4), (std::vector<Region>{at(10, 4), at(14, 4)}));
    EXPECT_EQ(segments_of(at(10, 4), 4), std::vector<Region>{at(10, 4)});
}

}  // namespace
}  // namespace mutirao
