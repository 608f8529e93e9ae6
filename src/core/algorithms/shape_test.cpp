#include "core/algorithms/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mutirao {
namespace {

TEST(VirtualRank, CountsFromTheRootAndBack) {
    EXPECT_EQ(virtual_rank(12, 12, 24), 0);
    EXPECT_EQ(virtual_rank(0, 12, 24), 12);
    EXPECT_EQ(virtual_rank(11, 12, 24), 23);
    for (int size = 1; size <= 9; ++size) {
        for (int root = 0; root < size; ++root) {
            for (int rank = 0; rank < size; ++rank) {
                EXPECT_EQ(real_rank(virtual_rank(rank, root, size), root, size), rank);
            }
        }
    }
}

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

int depth_of(int rank, int size, int radix) {
    int depth = 0;
    for (int at = rank; at != 0; at = k_nomial_place(at, size, radix).parent) ++depth;
    return depth;
}

// Catches a child that its parent does not serve, or serves twice, and a tree that is too deep.
TEST(KNomial, ParentsAndChildrenAgreeAndTheDepthIsLogarithmic) {
    for (const int radix : {2, 3, 4, 8, 64}) {
        for (int size = 1; size <= 70; ++size) {
            std::vector<int> times_served(static_cast<std::size_t>(size), 0);
            int most_depth = 0;
            while (std::pow(radix, most_depth) < size) ++most_depth;
            for (int rank = 0; rank < size; ++rank) {
                EXPECT_LE(depth_of(rank, size, radix), most_depth) << rank << " of " << size;
                for (const int child : k_nomial_place(rank, size, radix).children) {
                    ++times_served[static_cast<std::size_t>(child)];
                    EXPECT_EQ(k_nomial_place(child, size, radix).parent, rank);
                }
            }
            for (int rank = 0; rank < size; ++rank) {
                EXPECT_EQ(times_served[static_cast<std::size_t>(rank)], rank == 0 ? 0 : 1);
            }
        }
    }
}

TEST(Binomial, ASubtreeIsConsecutive) {
    for (int size = 1; size <= 40; ++size) {
        for (int rank = 0; rank < size; ++rank) {
            int below = 1;  // counted by walking up from every rank
            for (int other = rank + 1; other < size; ++other) {
                int at = other;
                while (at > rank) at = k_nomial_place(at, size, 2).parent;
                if (at != rank) continue;
                ++below;
                EXPECT_LT(other, binomial_subtree_end(rank, size));
            }
            EXPECT_EQ(binomial_subtree_end(rank, size), rank + below);
        }
    }
}

TEST(Binary, ParentsAndChildrenAgree) {
    EXPECT_EQ(binary_place(0, 1), (TreePlace{-1, {}}));
    EXPECT_EQ(binary_place(0, 6), (TreePlace{-1, {1, 2}}));
    EXPECT_EQ(binary_place(2, 6), (TreePlace{0, {5}}));
    EXPECT_EQ(binary_place(5, 6), (TreePlace{2, {}}));
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
