// A binomial tree from every rank at once, whose first hops are the longest: while there are few
// blocks they go far, and the many of the last steps go to near ranks. Allgathers send blocks down
// these trees, reduce-scatters send partial results up.
#pragma once

#include <vector>

namespace mutirao {

/// Hops of one step that can share a message: in the tree of the rank that is so far behind this
/// one, each from this rank to the one that is `distance` ahead.
struct TreeHops {
    int distance;
    std::vector<int> from;

    bool operator==(const TreeHops&) const = default;
};

/// In the order of the steps away from the roots, up to `most` hops together. A rank is a node of
/// the tree of the rank d behind it with the hops of all steps shorter than the lowest bit of d.
std::vector<TreeHops> far_first_hops(int size, int most);

}  // namespace mutirao
