// Blocks of one length, one for every rank, as gathers, scatters and exchanges move them.
#pragma once

#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// The blocks first .. first + count - 1 of a buffer, which lie one behind another.
Region blocks_from(Buffer buffer, int first, int count, std::size_t block_bytes);

/// Blocks that lie one behind another in a buffer.
struct BlockRun {
    int first;
    int count;
    int offset;  ///< how many blocks of the whole come before this run

    bool operator==(const BlockRun&) const = default;
};

/// The blocks first .. first + count - 1, counted on from 0 after size - 1: a second run if they
/// go over the end, none if there are none. `first` may be anything from -size on.
std::vector<BlockRun> runs_of(int first, int count, int size);

/// Counted on from the last rank before rank 0.
inline int rank_behind(const Request& request, int distance) {
    return (request.rank + request.size - distance) % request.size;
}

/// The whole input where that is one block.
inline Region own_input(const Request& request) {
    return nth_block(Buffer::input, 0, request.length_bytes);
}

/// The one step that may write the own block's place in an output of all ranks' blocks.
StepId copy_own_block(Schedule& schedule, const Request& request);

}  // namespace mutirao
