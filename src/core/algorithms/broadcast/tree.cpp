// The minimum spanning tree that the hosts maintain, the shortest paths from the root, or the greedy earliest
// completion.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them. It must hang from the root.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

static Schedule tree(const Request& request) { return over_given_tree(request); }

Algorithm tree() {
    return {.collective = Collective::broadcast,
            .name = "tree",
            .summary = "a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .segmented = true, .trees = measured_trees(), .level = Level::hosts};
}

}  // namespace mutirao::broadcast
