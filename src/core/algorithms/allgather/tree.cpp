// What comes from one neighbour goes on to all others at once, so every block passes every edge at most once, and
// nothing goes to the root to come back.
//
// Cost, p ranks, blocks of n bytes: p (p - 1) messages in all, p of them over each edge in its two directions
// together; depth the tree's diameter, wherever it hangs from. A rank with d neighbours sends (d - 1) (p - 1) + 1
// messages.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/trees.h"

namespace mutirao::allgather {

static Schedule tree(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const Tree& tree = given_tree(request);
    const std::vector<int> neighbours = neighbours_in(tree, request.rank);
    for (const int neighbour : neighbours) flow.send(neighbour, own_input(request));
    for (const TreeVisit& visit : nearest_first(tree, request.rank)) {
        if (visit.rank == request.rank) continue;
        const Region block = blocks.block(visit.rank);
        flow.receive(visit.branch, block);
        for (const int neighbour : neighbours) {
            if (neighbour != visit.branch) flow.send(neighbour, block);
        }
    }
    flow.copy(own_input(request), blocks.block(request.rank));
    return std::move(flow).take();
}

Algorithm tree() {
    return {.collective = Collective::allgather,
            .name = "tree",
            .summary = "outwards from every rank over a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .trees = measured_trees(), .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
