// Blocks, one for every rank, as gathers, scatters and exchanges move them.
#pragma once

#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// Blocks that lie one behind another in a buffer.
struct BlockRun {
    int first;
    int count;
    int offset;  ///< how many blocks of the whole come before this run
};

/// The blocks first .. first + count - 1, counted on from 0 after size - 1: a second run if they
/// go over the end, none if there are none. `first` may be anything from -size on.
std::vector<BlockRun> runs_of(int first, int count, int size);

/// Counted on from the last rank before rank 0.
inline int rank_behind(const Request& request, int distance) {
    return (request.rank + request.size - distance) % request.size;
}

/// All ranks' blocks in their order, which are known here.
Blocks blocks_of(const Request& request);
/// The same from `first` on, counted on from 0 after size - 1: where they wait in scratch memory.
Blocks blocks_from_rank(const Request& request, int first);

std::size_t longest_block_bytes(const Request& request);

/// Of the rank's own block, whether it knows the others' or not.
std::size_t own_length_bytes(const Request& request);

/// The whole input where that is one block.
inline Region own_input(const Request& request) {
    return {Buffer::input, 0, own_length_bytes(request)};
}

/// A block as messages: none if it is empty. Both sides know how long it is, and nobody else need know.
inline std::vector<Region> messages_of(Region block, std::size_t segment_bytes = 0) {
    return segments_of(block, segment_bytes > 0 ? segment_bytes : longest_step_bytes);
}
/// The same of a copy.
void copy_messages(Schedule& schedule, Region from, Region into);

/// In round i of 1 .. size - 1 of an exchange, rank r sends to one rank and receives from one.
enum class Partners : unsigned char {
    shifted,  ///< sends to r + i, receives from r - i
    paired    ///< both with r xor i; the size must be a power of two
};

/// The exchange in which every block goes straight to its destination. Round i comes after both messages of round
/// i - window, so that no more than `window` rounds are under way.
Schedule in_rounds(const Request& request, Partners partners, int window);

}  // namespace mutirao
