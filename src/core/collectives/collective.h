// The one table of collectives: what every part of the project must know of each. A further collective is a row here,
// its promise, by which its algorithms are proved (test_promises.h), and these algorithms in the catalogue.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace mutirao {

enum class Collective : unsigned char {
    barrier,
    broadcast,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce,
    allreduce,
    reduce_scatter_block,
    scan,
    exscan,
    gatherv,
    scatterv,
    allgatherv,
    alltoallv,
    alltoallw,
    reduce_scatter
};

/// Whether there is a block for every rank, and who knows how long each is. In order: an algorithm that
/// needs to know less is for all before it, too.
enum class InBlocks : unsigned char {
    none,
    equal,   ///< all of one length
    uneven,  ///< each of its own; all ranks know all of them
    own      ///< each rank knows those that it sends or gets, and no others
};

struct CollectiveRow {
    Collective collective;
    std::string_view name;  ///< in settings, reports and on the command line
    bool rooted;            ///< one rank, the root, has another part than the others
    bool reduces;           ///< combines the ranks' data with an operator
    InBlocks in_blocks;     ///< unless none, CallShape::length_bytes is of a block
    /// What MPI libraries run themselves, as rows of the catalogue: what native is timed as is the fastest
    /// of these. Where libraries differ, or go by length, both are named.
    std::array<std::string_view, 2> native_is_like;
    /// Whose algorithms serve, if their blocks may be as here: the same collective with equal blocks, or
    /// itself.
    Collective base = collective;
    /// What some libraries run for some lengths and numbers of ranks, and is slower; a row, too. Empty: none is known.
    std::string_view native_may_be{};
};

inline constexpr std::array<CollectiveRow, 17> collectives{{
    {Collective::barrier, "barrier", false, false, InBlocks::none, {"dissemination", "dissemination"}},
    {Collective::broadcast, "broadcast", true, false, InBlocks::none, {"binomial", "binomial"}},
    {Collective::gather, "gather", true, false, InBlocks::equal, {"binomial", "binomial"}},
    {Collective::scatter, "scatter", true, false, InBlocks::equal, {"binomial", "binomial"}},
    {Collective::allgather, "allgather", false, false, InBlocks::equal, {"bruck", "ring"}},
    {Collective::alltoall, "alltoall", false, false, InBlocks::equal,
     {"linear", "bruck"}, Collective::alltoall, "pairwise"},  // MPICH and Intel MPI above 32 KiB
    {Collective::reduce, "reduce", true, true, InBlocks::none,
     {"k_nomial", "rabenseifner"}, Collective::reduce, "in_order_binary"},  // Open MPI 5 up to 31 ranks: a binary tree
    {Collective::allreduce, "allreduce", false, true, InBlocks::none, {"recursive_doubling", "rabenseifner"}},
    {Collective::reduce_scatter_block, "reduce_scatter_block", false, true, InBlocks::equal,
     {"recursive_halving", "pairwise"}},
    {Collective::scan, "scan", false, true, InBlocks::none, {"recursive_doubling", "linear"}},
    {Collective::exscan, "exscan", false, true, InBlocks::none, {"recursive_doubling", "linear"}},
    {Collective::gatherv, "gatherv", true, false, InBlocks::own, {"linear", "linear"}, Collective::gather},
    {Collective::scatterv, "scatterv", true, false, InBlocks::own, {"linear", "linear"}, Collective::scatter},
    {Collective::allgatherv, "allgatherv", false, false, InBlocks::uneven,
     {"ring", "neighbor_exchange"}, Collective::allgather},
    {Collective::alltoallv, "alltoallv", false, false, InBlocks::own, {"linear", "pairwise"}, Collective::alltoall},
    {Collective::alltoallw, "alltoallw", false, false, InBlocks::own, {"linear", "pairwise"}, Collective::alltoall},
    {Collective::reduce_scatter, "reduce_scatter", false, true, InBlocks::uneven,
     {"recursive_halving", "ring"}, Collective::reduce_scatter_block},
}};

/// Rows stand in the order of the enumeration, so that one is found without a search.
constexpr const CollectiveRow& row_of(Collective collective) {
    return collectives[static_cast<std::size_t>(collective)];
}
static_assert([] {
    for (std::size_t i = 0; i < collectives.size(); ++i)
        if (collectives[i].collective != static_cast<Collective>(i)) return false;
    return true;
}());

constexpr std::string_view to_string(Collective collective) { return row_of(collective).name; }

std::optional<Collective> collective_from(std::string_view name);

// What a call asks for, as far as MPI makes it equal on all ranks of a correct program; everything
// that is decided, predicted, kept or reported depends on shapes only. What one rank alone knows
// (addresses, counts, datatypes, MPI_IN_PLACE) must never decide anything: ranks that see different
// shapes choose different algorithms, and the program hangs. So none of it enters a shape, but for lengths
// that known_to_all takes out again.

/// What may be done with a reduction's operator.
struct OperatorKind {
    bool predefined = true;
    bool commutes = true;

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
    /// scatterv's root has all, the others one; alltoallv has those sent and then those received.
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

}  // namespace mutirao
