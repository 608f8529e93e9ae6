// A segment goes down as soon as it is reduced, while later ones still come up.
//
// Cost, p ranks: 2 (p - 1) messages per segment, twice the depth of the tree, which may hang from any rank; every
// link carries the message once in each direction.
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao::allreduce {

static Schedule tree(const Request& request) {
    Dataflow flow;
    const TreePlace place = place_in_given_tree(request);
    for (const Partial& part :
         pass_up(request, mirrored(place), whole_message(flow, request, true))) {
        if (place.parent >= 0) flow.receive(place.parent, part.home());
        for (const int child : place.children) flow.send(child, part.home());
    }
    return std::move(flow).take();
}

Algorithm tree() {
    return {.collective = Collective::allreduce,
            .name = "tree",
            .summary = "up and down a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .segmented = true, .trees = measured_trees()};
}

}  // namespace mutirao::allreduce
