#include "core/algorithms/shape.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

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

}  // namespace
}  // namespace mutirao
