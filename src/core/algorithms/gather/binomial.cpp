// Each rank collects the blocks of its subtree, whose ranks are consecutive counted from the root. To the root the
// one piece that goes over the last rank goes as two messages, so that all blocks come to their places at once,
// from any root.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p messages at most; a block is sent up to ceil(log2 p)
// times, so it is for short blocks. Scratch for up to p / 2 blocks. Blocks must be equal: ranks on the way know no
// others' lengths.
#include "core/algorithms/trees.h"

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::gather {

static Schedule binomial(const Request& request) {
    const BinomialBlocks tree(request, Buffer::output);
    Dataflow flow;
    if (tree.children.empty() && request.rank != request.root) {
        flow.send(tree.parent.peer, own_input(request));
        return std::move(flow).take();
    }
    flow.copy(own_input(request), tree.own);
    for (const auto& child : tree.children) {
        for (const Region& message : child.messages) flow.receive(child.peer, message);
    }
    for (const Region& message : tree.parent.messages) flow.send(tree.parent.peer, message);
    return std::move(flow).take();
}

Algorithm binomial() {
    return {.collective = Collective::gather,
            .name = "binomial",
            .summary = "binomial tree over the ranks, subtrees in one piece",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = binomial};
}

}  // namespace mutirao::gather
