// The ranks of a tree in the order in which what they have can come to one of them.
#pragma once

#include <vector>

#include "core/network/tree.h"

namespace mutirao {

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

}  // namespace mutirao
