// Each rank gets the blocks of its subtree in one piece, whose ranks are consecutive counted from the root, and
// passes on those of its children. From the root the one piece that goes over the last rank goes as two messages,
// so that nothing has to be packed, from any root.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p messages at most; a block is sent up to ceil(log2 p)
// times, so it is for short blocks. Scratch for up to p / 2 blocks. Blocks must be equal: ranks on the way know no
// others' lengths.
#include "core/algorithms/trees.h"

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::scatter {

Schedule binomial(const Request& request) {
    const BinomialBlocks tree(request, Buffer::input);
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    Dataflow flow;
    if (tree.children.empty() && request.rank != request.root) {
        flow.receive(tree.parent.peer, mine);
        return std::move(flow).take();
    }
    for (const Region& message : tree.parent.messages) flow.receive(tree.parent.peer, message);
    for (const auto& child : tree.children) {
        for (const Region& message : child.messages) flow.send(child.peer, message);
    }
    flow.copy(tree.own, mine);
    return std::move(flow).take();
}

Algorithm binomial() {
    return {.collective = Collective::scatter,
            .name = "binomial",
            .summary = "binomial tree over the ranks, subtrees in one piece",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = binomial};
}

}  // namespace mutirao::scatter
