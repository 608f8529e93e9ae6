// The one list of algorithms, in the order in which users see them and by which ties go. A new one is one file in
// the folder of its collective, with its row in it, and its name here, in the declarations and in the list; tests,
// help, benchmark, prediction and pictures follow. Where the file is not called as the algorithm, its name stands
// beside; what several collectives do alike is in a file beside the folders.
#include <utility>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

namespace barrier {

Algorithm dissemination(), locality_dissemination(), recursive_exchange();  // signal_rounds.cpp
Algorithm direct();
Algorithm tree();  // trees.cpp

static std::vector<Algorithm> rows() {
    return {dissemination(), locality_dissemination(), direct(), recursive_exchange(), tree()};
}

}  // namespace barrier

namespace broadcast {

Algorithm flat();  // direct.cpp
Algorithm binomial(), k_nomial(), chain();  // trees.cpp
Algorithm two_level(), tree(), packed_trees();  // trees.cpp
Algorithm locality_tree();  // locality.cpp
Algorithm split_binary();
Algorithm circulant();
Algorithm scatter_recursive_doubling_allgather(), scatter_ring_allgather();  // scatter_allgather.cpp
Algorithm striped(), multi_lane();  // multi_lane.cpp
Algorithm groups();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {flat(), binomial(), k_nomial(), chain(), split_binary(), circulant(),
            scatter_recursive_doubling_allgather(), scatter_ring_allgather(), two_level(), striped(), tree(),
            packed_trees(), locality_tree(), multi_lane(), groups()};
}

}  // namespace broadcast

namespace gather {

Algorithm linear();  // direct.cpp
Algorithm synchronised();
Algorithm binomial(), two_level(), tree();  // scatter_gather.cpp
Algorithm groups();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {linear(), synchronised(), binomial(), two_level(), tree(), groups()};
}

}  // namespace gather

namespace scatter {

Algorithm linear();  // direct.cpp
Algorithm binomial(), two_level(), tree();  // scatter_gather.cpp
Algorithm groups();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {linear(), binomial(), two_level(), tree(), groups()};
}

}  // namespace scatter

namespace allgather {

Algorithm linear(), two_proc();  // direct.cpp
Algorithm ring(), neighbor_exchange();  // ring.cpp
Algorithm recursive_doubling();  // recursive.cpp
Algorithm bruck();
Algorithm sparbit();  // tree_of_each_rank.cpp
Algorithm circulant();
Algorithm locality_bruck();  // locality.cpp
Algorithm gather_broadcast(), tree();  // trees.cpp
Algorithm groups();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {linear(), two_proc(), ring(), recursive_doubling(), bruck(), neighbor_exchange(), sparbit(),
            circulant(), locality_bruck(), gather_broadcast(), tree(), groups()};
}

}  // namespace allgather

namespace alltoall {

Algorithm linear(), pairwise(), windowed();  // direct.cpp
Algorithm bruck();
Algorithm two_level();

static std::vector<Algorithm> rows() {
    return {linear(), pairwise(), windowed(), bruck(), two_level()};
}

}  // namespace alltoall

namespace reduce {

Algorithm flat();  // direct.cpp
Algorithm k_nomial(), chain(), in_order_binary(), tree(), packed_trees();  // trees.cpp
Algorithm locality_tree();  // locality.cpp
Algorithm circulant();
Algorithm rabenseifner();  // recursive.cpp
Algorithm groups();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {flat(), k_nomial(), locality_tree(), chain(), in_order_binary(), circulant(), rabenseifner(),
            tree(), packed_trees(), groups()};
}

}  // namespace reduce

namespace allreduce {

Algorithm recursive_doubling(), recursive_multiplying(), rabenseifner();  // recursive.cpp
Algorithm ring();
Algorithm circulant();
Algorithm direct(), direct_shares();  // direct.cpp
Algorithm reduce_broadcast(), tree(), packed_trees();  // trees.cpp
Algorithm multi_lane(), multi_lane_multiplying();  // multi_lane.cpp
Algorithm locality_exchange();  // locality.cpp
Algorithm groups(), groups_twice();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {recursive_doubling(), recursive_multiplying(), rabenseifner(), ring(), circulant(), 
            direct(), direct_shares(), reduce_broadcast(), tree(), packed_trees(), multi_lane(),
            multi_lane_multiplying(), locality_exchange(), groups(), groups_twice()};
}

}  // namespace allreduce

namespace reduce_scatter_block {

Algorithm direct(), pairwise();  // direct.cpp
Algorithm recursive_halving();  // recursive.cpp
Algorithm ring();
Algorithm circulant();
Algorithm pat();  // tree_of_each_rank.cpp
Algorithm reduce_scatter();  // trees.cpp
Algorithm groups();  // over_groups.cpp

static std::vector<Algorithm> rows() {
    return {direct(), pairwise(), recursive_halving(), ring(), circulant(), pat(), reduce_scatter(), groups()};
}

}  // namespace reduce_scatter_block

namespace scan {

Algorithm linear(), recursive_doubling(), direct_shares(), two_level();  // prefix_sums.cpp
Algorithm direct();

static std::vector<Algorithm> rows() {
    return {linear(), recursive_doubling(), direct(), direct_shares(), two_level()};
}

}  // namespace scan

namespace exscan {

Algorithm linear(), recursive_doubling(), direct_shares(), two_level();  // prefix_sums.cpp
Algorithm direct();

static std::vector<Algorithm> rows() {
    return {linear(), recursive_doubling(), direct(), direct_shares(), two_level()};
}

}  // namespace exscan

/// Those that are made of the MPI library's other collectives: catalogue_native.cpp.
std::vector<Algorithm> native_composition_rows();

namespace {

std::vector<Algorithm> rows_of_all() {
    std::vector<Algorithm> all;
    const auto add = [&](Collective collective, const std::vector<Algorithm>& rows) {
        for (Algorithm each : rows) {
            each.collective = collective;
            all.push_back(std::move(each));
        }
    };
    add(Collective::barrier, barrier::rows());
    add(Collective::broadcast, broadcast::rows());
    add(Collective::gather, gather::rows());
    add(Collective::scatter, scatter::rows());
    add(Collective::allgather, allgather::rows());
    add(Collective::alltoall, alltoall::rows());
    add(Collective::reduce, reduce::rows());
    add(Collective::allreduce, allreduce::rows());
    add(Collective::reduce_scatter_block, reduce_scatter_block::rows());
    add(Collective::scan, scan::rows());
    add(Collective::exscan, exscan::rows());
    const std::vector<Algorithm> native_compositions = native_composition_rows();
    all.insert(all.end(), native_compositions.begin(), native_compositions.end());
    return all;
}

/// A collective whose blocks are not equal has the rows of its base that can do with that.
std::vector<Algorithm> whole_table() {
    const std::vector<Algorithm> rows = rows_of_all();
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
    static const std::vector<Algorithm> table = whole_table();
    return table;
}

}  // namespace mutirao
