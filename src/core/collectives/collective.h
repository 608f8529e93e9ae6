// The one table of collectives: what every part of the project must know of each. A further
// collective is a row here, its promise beside the others, and its algorithms in the catalogue.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

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

struct CallShape;
struct Promise;

struct CollectiveRow {
    Collective collective;
    std::string_view name;  ///< in settings, reports and on the command line
    bool rooted;            ///< one rank, the root, has another part than the others
    bool reduces;           ///< combines the ranks' data with an operator
    InBlocks in_blocks;     ///< unless none, CallShape::length_bytes is of a block
    /// What must lie where before and after, among so many ranks.
    Promise (*promise)(const CallShape& shape, int size);
    /// What MPI libraries run themselves, as rows of the catalogue: what native is timed as is the fastest
    /// of these. Where libraries differ, or go by length, both are named.
    std::array<std::string_view, 2> native_is_like;
    /// Whose algorithms serve, if their blocks may be as here: the same collective with equal blocks, or
    /// itself.
    Collective base = collective;
    /// What some libraries run for some lengths and numbers of ranks, and is slower; a row, too. Empty: none is known.
    std::string_view native_may_be{};
};

namespace promises {

Promise barrier(const CallShape& shape, int size);
Promise broadcast(const CallShape& shape, int size);
Promise gather(const CallShape& shape, int size);
Promise scatter(const CallShape& shape, int size);
Promise allgather(const CallShape& shape, int size);
Promise alltoall(const CallShape& shape, int size);
Promise reduce(const CallShape& shape, int size);
Promise allreduce(const CallShape& shape, int size);
Promise reduce_scatter_block(const CallShape& shape, int size);
Promise scan(const CallShape& shape, int size);
Promise exscan(const CallShape& shape, int size);

}  // namespace promises

inline constexpr std::array<CollectiveRow, 17> collectives{{
    {Collective::barrier, "barrier", false, false, InBlocks::none, promises::barrier,
     {"dissemination", "dissemination"}},
    {Collective::broadcast, "broadcast", true, false, InBlocks::none, promises::broadcast,
     {"binomial", "binomial"}},
    {Collective::gather, "gather", true, false, InBlocks::equal, promises::gather,
     {"binomial", "binomial"}},
    {Collective::scatter, "scatter", true, false, InBlocks::equal, promises::scatter,
     {"binomial", "binomial"}},
    {Collective::allgather, "allgather", false, false, InBlocks::equal, promises::allgather,
     {"bruck", "ring"}},
    {Collective::alltoall, "alltoall", false, false, InBlocks::equal, promises::alltoall,
     {"bruck", "linear"}},
    {Collective::reduce, "reduce", true, true, InBlocks::none, promises::reduce,
     {"k_nomial", "rabenseifner"}, Collective::reduce, "in_order_binary"},  // Open MPI 5 up to 31 ranks: a binary tree
    {Collective::allreduce, "allreduce", false, true, InBlocks::none, promises::allreduce,
     {"recursive_doubling", "rabenseifner"}},
    {Collective::reduce_scatter_block, "reduce_scatter_block", false, true, InBlocks::equal,
     promises::reduce_scatter_block, {"recursive_halving", "pairwise"}},
    {Collective::scan, "scan", false, true, InBlocks::none, promises::scan,
     {"recursive_doubling", "linear"}},
    {Collective::exscan, "exscan", false, true, InBlocks::none, promises::exscan,
     {"recursive_doubling", "linear"}},
    {Collective::gatherv, "gatherv", true, false, InBlocks::own, promises::gather,
     {"linear", "linear"}, Collective::gather},
    {Collective::scatterv, "scatterv", true, false, InBlocks::own, promises::scatter,
     {"linear", "linear"}, Collective::scatter},
    {Collective::allgatherv, "allgatherv", false, false, InBlocks::uneven, promises::allgather,
     {"ring", "neighbor_exchange"}, Collective::allgather},
    {Collective::alltoallv, "alltoallv", false, false, InBlocks::own, promises::alltoall,
     {"linear", "pairwise"}, Collective::alltoall},
    {Collective::alltoallw, "alltoallw", false, false, InBlocks::own, promises::alltoall,
     {"linear", "pairwise"}, Collective::alltoall},
    {Collective::reduce_scatter, "reduce_scatter", false, true, InBlocks::uneven,
     promises::reduce_scatter_block, {"recursive_halving", "ring"}, Collective::reduce_scatter_block},
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

}  // namespace mutirao
