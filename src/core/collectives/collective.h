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
    exscan
};

struct CallShape;
struct Promise;

struct CollectiveRow {
    Collective collective;
    std::string_view name;  ///< in settings, reports and on the command line
    bool rooted;            ///< one rank, the root, has another part than the others
    bool reduces;           ///< combines the ranks' data with an operator
    bool in_blocks;         ///< CallShape::length_bytes is of a block; there is one for every rank
    /// What must lie where before and after, among so many ranks.
    Promise (*promise)(const CallShape& shape, int size);
    /// What MPI libraries run themselves, as rows of the catalogue: what native is timed as is the fastest
    /// of these. Where libraries differ, or go by length, both are named.
    std::array<std::string_view, 2> native_is_like;
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

inline constexpr std::array<CollectiveRow, 11> collectives{{
    {Collective::barrier, "barrier", false, false, false, promises::barrier,
     {"dissemination", "dissemination"}},
    {Collective::broadcast, "broadcast", true, false, false, promises::broadcast,
     {"binomial", "binomial"}},
    {Collective::gather, "gather", true, false, true, promises::gather, {"binomial", "binomial"}},
    {Collective::scatter, "scatter", true, false, true, promises::scatter, {"binomial", "binomial"}},
    {Collective::allgather, "allgather", false, false, true, promises::allgather,
     {"bruck", "ring"}},
    {Collective::alltoall, "alltoall", false, false, true, promises::alltoall,
     {"bruck", "linear"}},
    {Collective::reduce, "reduce", true, true, false, promises::reduce,
     {"k_nomial", "rabenseifner"}},
    {Collective::allreduce, "allreduce", false, true, false, promises::allreduce,
     {"recursive_doubling", "rabenseifner"}},
    {Collective::reduce_scatter_block, "reduce_scatter_block", false, true, true,
     promises::reduce_scatter_block, {"recursive_halving", "pairwise"}},
    {Collective::scan, "scan", false, true, false, promises::scan,
     {"recursive_doubling", "linear"}},
    {Collective::exscan, "exscan", false, true, false, promises::exscan,
     {"recursive_doubling", "linear"}},
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
