// What the files that the catalogue's rows stand in share: catalogue.cpp puts them together, and
// native before them.
#pragma once

#include <string_view>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

std::vector<Algorithm> broadcast_rows();
std::vector<Algorithm> reduce_rows();
std::vector<Algorithm> allreduce_rows();
std::vector<Algorithm> reduce_scatter_block_rows();
std::vector<Algorithm> scan_rows();
std::vector<Algorithm> exscan_rows();
/// Those of one collective that are made of the MPI library's others.
std::vector<Algorithm> native_composition_rows(Collective collective);

/// Of broadcast/tree.cpp; whatever goes over such a tree has these.
inline constexpr std::string_view tree_sources =
    "Thome and Drummond; Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, "
    "Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X";

/// Kinds of trees that are made from the measured network.
inline std::vector<TreeKind> measured_trees() {
    return {TreeKind::minimum_spanning, TreeKind::shortest_path, TreeKind::greedy};
}

}  // namespace mutirao
