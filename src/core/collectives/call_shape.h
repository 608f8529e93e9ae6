// What a call asks for, as far as MPI makes it equal on all ranks of a correct program; everything
// that is decided, predicted, kept or reported depends on shapes only. What one rank alone knows
// (addresses, counts, datatypes, MPI_IN_PLACE) must never decide anything: ranks that see different
// shapes choose different algorithms, and the program hangs. So none of it enters a shape, but for lengths
// that known_to_all takes out again.
#pragma once

#include <cstddef>
#include <vector>

#include "core/collectives/collective.h"

namespace mutirao {

/// What may be done with a reduction's operator.
struct OperatorKind {
    bool predefined = true;
    bool commutes = true;
    bool floating_point = false;  ///< rounds, so another association may change the result

    bool operator==(const OperatorKind&) const = default;
};

/// What a block is taken to be long where the ranks do not know of each other's: what is decided must not
/// hang on any. Exchanges by count are mostly of short messages, where latencies tell algorithms apart, and
/// this is short on every network.
inline constexpr std::size_t nominal_block_bytes = 1024;

struct CallShape {
    Collective collective = Collective::broadcast;
    int root = 0;                  ///< a rank of the communicator; 0 where there is none
    /// Of the message in its packed signature; of one block where the collective is in_blocks: where
    /// blocks are uneven their mean, rounded up, where each rank knows only its own the nominal length.
    std::size_t length_bytes = 0;
    std::size_t unit_bytes = 1;    ///< never to be cut; a reduction's element
    OperatorKind op{};             ///< of a reduction
    /// Of every rank's block; empty: all are of length_bytes. Where a rank knows only its own these are
    /// what it knows, and lead to its own schedule and to nothing else (see known_to_all): gatherv's and
    /// scatterv's root has all, the others one; alltoallv has those sent and then those received. Only a
    /// proof has all of an alltoallv: those that rank 0 sends, then those of rank 1, and so on.
    std::vector<std::size_t> lengths{};

    bool operator==(const CallShape&) const = default;

    /// Nothing is to be done but to return.
    bool empty() const { return length_bytes == 0 && collective != Collective::barrier; }
};

/// Without what one rank alone knows: all that may be decided by.
inline CallShape known_to_all(CallShape shape) {
    if (row_of(shape.collective).in_blocks == InBlocks::own) shape.lengths.clear();
    return shape;
}

/// The mean of blocks that all ranks know, rounded up, so that it is 0 only if there is nothing.
std::size_t mean_length_bytes(const std::vector<std::size_t>& lengths);

/// The call as `rank` knows it, of one whose lengths are known as to a proof.
CallShape as_known_to(const CallShape& whole, int rank, int size);

}  // namespace mutirao
