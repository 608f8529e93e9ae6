// The functions behind the catalogue's rows, by collective. Where the file is not called as the function, its name
// stands beside; what several collectives do alike is in a file beside the folders.
#pragma once

#include "core/algorithms/algorithm.h"

namespace mutirao {

namespace barrier {
Build dissemination, locality_dissemination, recursive_exchange;  // signal_rounds.cpp
Build direct;
Build tree;  // trees.cpp
}  // namespace barrier

namespace broadcast {
Build flat;  // direct.cpp
Build k_nomial, chain, over_trees;  // trees.cpp
Build locality_tree;  // locality.cpp
Build split_binary;
Build circulant;
Build scatter_recursive_doubling_allgather, scatter_ring_allgather;  // scatter_allgather.cpp
Build striped, multi_lane;  // multi_lane.cpp
Build groups;  // over_groups.cpp
}  // namespace broadcast

namespace gather {
Build linear;  // direct.cpp
Build synchronised;
Build binomial, two_level, tree;  // scatter_gather.cpp
Build groups;  // over_groups.cpp
}  // namespace gather

namespace scatter {
Build linear;  // direct.cpp
Build binomial, two_level, tree;  // scatter_gather.cpp
Build groups;  // over_groups.cpp
}  // namespace scatter

namespace allgather {
Build linear;  // direct.cpp
Build ring, neighbor_exchange;  // ring.cpp
Build circulant;
Build recursive_doubling;  // recursive.cpp
Build bruck;
Build sparbit;  // tree_of_each_rank.cpp
Build locality_bruck;  // locality.cpp
Build gather_broadcast, tree;  // trees.cpp
Build groups;  // over_groups.cpp
}  // namespace allgather

namespace alltoall {
Build linear, pairwise, windowed;  // direct.cpp
Build bruck;
Build two_level;
}  // namespace alltoall

namespace reduce {
Build flat;  // direct.cpp
Build k_nomial, chain, in_order_binary, over_trees;  // trees.cpp
Build locality_tree;  // locality.cpp
Build circulant;
Build rabenseifner;  // recursive.cpp
Build groups;  // over_groups.cpp
}  // namespace reduce

namespace allreduce {
Build recursive_multiplying, rabenseifner;  // recursive.cpp
Build ring;
Build circulant;
Build direct, direct_shares;  // direct.cpp
Build reduce_broadcast, over_trees;  // trees.cpp
Build multi_lane, multi_lane_multiplying;  // multi_lane.cpp
Build locality_exchange;  // locality.cpp
Build groups, groups_twice;  // over_groups.cpp
}  // namespace allreduce

namespace reduce_scatter_block {
Build direct, pairwise;  // direct.cpp
Build recursive_halving;  // recursive.cpp
Build ring;
Build circulant;
Build pat;  // tree_of_each_rank.cpp
Build reduce_scatter;  // trees.cpp
Build groups;  // over_groups.cpp
}  // namespace reduce_scatter_block

namespace scan {
Build linear, recursive_doubling, direct_shares, two_level;  // prefix_sums.cpp
Build direct;
}  // namespace scan

namespace exscan {
Build linear, recursive_doubling, direct_shares, two_level;  // prefix_sums.cpp
Build direct;
}  // namespace exscan

}  // namespace mutirao
