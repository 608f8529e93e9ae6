// The one pipelined broadcast over a tree and the one reduction, whatever the tree: every algorithm that passes a
// message from parent to children, or back, is a choice of places in a tree and nothing else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"
#include "core/network/tree.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// A share of the message down each of several trees, in places under real ranks; the shares'
/// segments take turns, and each goes on to every child before the next one. A root of the trees must have the message.
Schedule pass_down_shares(std::span<const TreePlace> places, const Request& request);

/// A place under real ranks, with the request's length and segments.
Schedule over_place(const Request& request, const TreePlace& place);

/// The same of a reduction, up such a tree: the child that is served last, and whose subtree therefore is the
/// shallowest, is awaited first.
Schedule up_from_place(const Request& request, const TreePlace& place);

/// Request::tree, which must be there and over the same ranks.
const Tree& given_tree(const Request& request);

/// The same, which must hang from Request::root besides.
const Tree& given_tree_from_root(const Request& request);

TreePlace place_in(const Tree& tree, int rank);

/// Where the trees are from that are made from the measured network: the minimum spanning tree that the hosts
/// maintain (Thome and Drummond, "Biblioteca de Comunicacao Coletiva para Ambientes Distribuidos Dinamicos"), the
/// shortest paths from the root, and the greedy earliest completion.
inline constexpr std::string_view tree_sources =
    "Thome and Drummond; Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, "
    "Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X";

inline std::vector<TreeKind> measured_trees() {
    return {TreeKind::minimum_spanning, TreeKind::shortest_path, TreeKind::greedy};
}

// The ranks of a tree in the order in which what they have can come to one of them.

/// Whom a rank has an edge with: its parent, if it has one, then its children.
std::vector<int> neighbours_in(const Tree& tree, int rank);

struct TreeVisit {
    int rank;
    int branch;    ///< the neighbour of where the walk began, by which this rank is reached; or -1
    int previous;  ///< the neighbour on the way back; -1 where the walk began
    int distance;  ///< in edges

    bool operator==(const TreeVisit&) const = default;
};

/// All ranks in order of their distance from `from`, itself the first, but none beyond its
/// neighbour `barred` (-1: all). On both ends of an edge this gives the ranks behind it in the same
/// order: the walk from `from` has those of its branch b in the order of the walk from b that is
/// barred from `from`. So messages of one rank's data each match without a word about whose.
std::vector<TreeVisit> nearest_first(const Tree& tree, int from, int barred = -1);

// Algorithms that others are made of; their names begin with their collective.

Build broadcast_k_nomial, reduce_k_nomial;                    // trees.cpp
Build scatter_binomial;                                       // scatter_gather.cpp
Build allreduce_circulant, allreduce_recursive_multiplying;  // circulant.cpp, recursive.cpp

}  // namespace mutirao
