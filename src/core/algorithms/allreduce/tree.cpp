// A segment goes down as soon as it is reduced, while later ones still come up.
//
// Cost, p ranks: 2 (p - 1) messages per segment, twice the depth of the tree, which may hang from any rank; every
// link carries the message once in each direction.
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao::allreduce {

/// Up and down the tree, or a share over each of packed trees.
static Schedule up_and_down(const Request& request) {
    Dataflow flow;
    for (const auto& [place, parts] : pass_up_shares(request, whole_message(flow, request, true))) {
        for (const Partial& part : parts) {
            if (place.parent >= 0) flow.receive(place.parent, part.home());
            for (const int child : place.children) flow.send(child, part.home());
        }
    }
    return std::move(flow).take();
}

Algorithm tree() {
    return {.collective = Collective::allreduce,
            .name = "tree",
            .summary = "up and down a tree made from the measured network",
            .source = tree_sources,
            .build = up_and_down, .segmented = true, .trees = measured_trees()};
}

// Each share combined up a tree of its own, and then down it again, over the trees of broadcast/packed_trees.
//
// Cost, p ranks, k trees, n bytes: 2 k (p - 1) messages of n / k bytes; from the host that is nearest to all there is
// hardly a longer way than between the two farthest.
Algorithm packed_trees() {
    return {.collective = Collective::allreduce,
            .name = "packed_trees",
            .summary = "a share up and down each of many trees that leave each other room on the links",
            .source = packed_tree_sources,
            .build = up_and_down, .segmented = true, .segments_of_blocks = true, .trees = {TreeKind::packed_both_ways},
            .least_bytes = least_bytes_of_packed_trees};
}

}  // namespace mutirao::allreduce
