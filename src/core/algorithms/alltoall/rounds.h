// The exchange in which every block goes straight from its rank to its destination, whatever the
// order: linear, pairwise and windowed are a choice of partners and of how many at a time.
#pragma once

#include "core/algorithms/algorithm.h"

namespace mutirao::alltoall {

/// In round i of 1 .. size - 1, rank r sends to one rank and receives from one.
enum class Partners : unsigned char {
    shifted,  ///< sends to r + i, receives from r - i
    paired    ///< both with r xor i; the size must be a power of two
};

/// Round i comes after both messages of round i - window, so that no more than `window` rounds are
/// under way.
Schedule in_rounds(const Request& request, Partners partners, int window);

}  // namespace mutirao::alltoall
