// The one list of algorithms. A new one is a row of a file's table, beside the function that builds its schedules; a new
// file's table is named here. Tests, help, benchmark, prediction and pictures follow.
#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

// Of the folders of single collectives.
std::vector<Algorithm> alltoall_two_level_rows(), barrier_signal_rounds_rows(), broadcast_scatter_allgather_rows(),
    broadcast_split_binary_rows(), gather_synchronised_rows();
// Of several collectives.
std::vector<Algorithm> bruck_rows(), circulant_rows(), direct_rows(), locality_rows(), multi_lane_rows(),
    over_groups_rows(), prefix_sums_rows(), recursive_rows(), ring_rows(), scatter_gather_rows(),
    tree_of_each_rank_rows(), trees_rows(), native_composition_rows();

namespace {

constexpr std::vector<Algorithm> (*tables[])() = {
    alltoall_two_level_rows, barrier_signal_rounds_rows, broadcast_scatter_allgather_rows, broadcast_split_binary_rows,
    gather_synchronised_rows, bruck_rows, circulant_rows, direct_rows, locality_rows, multi_lane_rows, over_groups_rows,
    prefix_sums_rows, recursive_rows, ring_rows, scatter_gather_rows, tree_of_each_rank_rows, trees_rows,
    native_composition_rows,
};

/// The order in which users see the algorithms of a collective, and by which ties go; others follow.
const std::map<Collective, std::vector<std::string_view>>& names_in_order() {
    using enum Collective;
    static const std::map<Collective, std::vector<std::string_view>> names = {
        {barrier, {"dissemination", "locality_dissemination", "direct", "recursive_exchange", "tree"}},
        {broadcast, {"flat", "binomial", "k_nomial", "chain", "split_binary", "circulant",
                     "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "two_level", "striped", "tree",
                     "packed_trees", "locality_tree", "multi_lane", "groups"}},
        {gather, {"linear", "synchronised", "binomial", "two_level", "tree", "groups"}},
        {scatter, {"linear", "binomial", "two_level", "tree", "groups"}},
        {allgather, {"linear", "two_proc", "ring", "recursive_doubling", "bruck", "neighbor_exchange", "sparbit",
                     "circulant", "locality_bruck", "gather_broadcast", "tree", "groups"}},
        {alltoall, {"linear", "pairwise", "windowed", "bruck", "two_level"}},
        {reduce, {"flat", "k_nomial", "locality_tree", "chain", "in_order_binary", "circulant", "rabenseifner", "tree",
                  "packed_trees", "groups"}},
        {allreduce, {"recursive_doubling", "recursive_multiplying", "rabenseifner", "ring", "circulant", "direct",
                     "direct_shares", "reduce_broadcast", "tree", "packed_trees", "multi_lane",
                     "multi_lane_multiplying", "locality_exchange", "groups", "groups_twice"}},
        {reduce_scatter_block, {"direct", "pairwise", "recursive_halving", "ring", "circulant", "pat",
                                "reduce_scatter", "groups"}},
        {scan, {"linear", "recursive_doubling", "direct", "direct_shares", "two_level"}},
        {exscan, {"linear", "recursive_doubling", "direct", "direct_shares", "two_level"}},
    };
    return names;
}

std::vector<Algorithm> rows_in_order() {
    std::vector<Algorithm> rows;
    for (const auto& table : tables) std::ranges::move(table(), std::back_inserter(rows));
    std::ranges::stable_sort(rows, {}, [](const Algorithm& each) {
        const std::vector<std::string_view>& names = names_in_order().at(each.collective);
        return std::ranges::find(names, each.name) - names.begin();
    });
    return rows;
}

/// A collective whose blocks are not equal has the rows of its base that can do with that.
std::vector<Algorithm> whole_table() {
    const std::vector<Algorithm> rows = rows_in_order();
    std::vector<Algorithm> table;
    for (const CollectiveRow& row : collectives) {
        table.push_back({.collective = row.collective,
                         .name = "native",
                         .summary = "the MPI library's own",
                         .source = "the MPI library in use"});
        for (Algorithm each : rows) {
            const bool can = row.base == row.collective || each.blocks >= row.in_blocks;
            if (each.collective != row.base || !can) continue;
            each.collective = row.collective;
            table.push_back(std::move(each));
        }
    }
    return table;
}

}  // namespace

std::span<const Algorithm> catalogue() {
    static const auto& table = *new std::vector(whole_table());  // a thread may decide until the process has ended
    return table;
}

}  // namespace mutirao
