// The arithmetic that algorithms share: virtual ranks, tree shapes over them, blocks and segments
// of a message. It stands once, here, and is tested by itself, so that an algorithm's file holds
// only what is its own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao {

constexpr bool is_power_of_two(int size) { return size > 0 && (size & (size - 1)) == 0; }

/// Ranks counted from the root, so that an algorithm may be written for root 0.
int virtual_rank(int rank, int root, int size);
int real_rank(int virtual_rank, int root, int size);

/// The next one first, so that ranks that serve all others do not all begin with the same.
std::vector<int> others_of(int rank, int size);

/// One rank's place in a tree.
struct TreePlace {
    int parent = -1;            ///< -1: the root
    std::vector<int> children{};  ///< in the order in which they are served

    bool operator==(const TreePlace&) const = default;
};

/// The k-nomial tree of `radix` over virtual ranks, rooted at 0: the children of the highest digit
/// first, and within a digit the smaller rank, whose subtree is never the smaller one. Radix 2 is
/// the binomial tree as MPICH numbers it.
TreePlace k_nomial_place(int virtual_rank, int size, int radix);

/// One past the last rank of the binomial subtree of `virtual_rank`, whose ranks are consecutive.
int binomial_subtree_end(int virtual_rank, int size);

/// The complete binary tree numbered by levels: the children of i are 2i + 1 and 2i + 2.
TreePlace binary_place(int index, int size);

/// Every rank below the one before it.
TreePlace chain_place(int index, int size);

/// The same place under real ranks.
TreePlace with_real_ranks(TreePlace place, int root, int size);

/// Blocks of a message, one behind another.
class Blocks {
  public:
    /// `count` blocks whose lengths differ by at most one unit, the longer ones first. Blocks are empty
    /// where the message has fewer units than there are blocks.
    Blocks(std::size_t length_bytes, int count, std::size_t unit_bytes = 1);
    /// Blocks of given lengths.
    explicit Blocks(std::span<const std::size_t> lengths);

    /// Bytes of the blocks first .. end-1 together.
    Region range(int first, int end, Buffer buffer = Buffer::output) const;
    Region block(int index, Buffer buffer = Buffer::output) const {
        return range(index, index + 1, buffer);
    }

  private:
    std::size_t offset_of(int index) const;

    std::size_t unit_bytes_ = 1;
    std::size_t shortest_units_ = 0;
    std::size_t longer_count_ = 0;
    std::vector<std::size_t> offsets_;  ///< of given lengths, and of the end
};

/// The pieces that a pipeline sends `whole` in, all of segment_bytes but the last; one if
/// segment_bytes is 0, none if `whole` is empty. No unit is cut.
std::vector<Region> segments_of(Region whole, std::size_t segment_bytes,
                                std::size_t unit_bytes = 1);

/// The `index`-th of equal blocks.
inline Region nth_block(Buffer buffer, int index, std::size_t block_bytes) {
    return {buffer, static_cast<std::size_t>(index) * block_bytes, block_bytes};
}

/// A message without bytes: what counts is only what comes after it.
inline constexpr Region signal{Buffer::scratch, 0, 0};

}  // namespace mutirao
