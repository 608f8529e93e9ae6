// The binomial tree over ranks counted from the root, as gathers and scatters use it: the blocks of
// a subtree, whose ranks are consecutive, go over its edge in one piece. Between the root and a
// child the piece that goes over the last rank goes as two messages, so that all blocks lie at
// their places in the root's buffer, from any root.
#pragma once

#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

struct BinomialBlocks {
    /// `whole`: where the root has all blocks.
    BinomialBlocks(const Request& request, Buffer whole);

    struct Edge {
        int peer = -1;
        std::vector<Region> messages;
    };
    Edge parent;  ///< the root has none, and no messages with it
    std::vector<Edge> children;  ///< the largest subtree first
    Region own;  ///< the rank's block beside those of its subtree
};

}  // namespace mutirao
