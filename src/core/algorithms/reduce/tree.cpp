// Links are taken to be alike in both directions.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them. It must hang from the root, and
// the operator commute: ranks below a child may be any.
#include "core/algorithms/over_tree.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

static Schedule tree(const Request& request) {
    Dataflow flow;
    pass_up(request, mirrored(place_in_given_tree(request)),
            whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

Algorithm tree() {
    return {.collective = Collective::reduce,
            .name = "tree",
            .summary = "up a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .segmented = true, .trees = measured_trees()};
}

}  // namespace mutirao::reduce
