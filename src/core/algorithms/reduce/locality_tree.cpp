// The tree of broadcast/locality_tree: ranks combine what comes before they hand it on inside.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: depth ceil(log_(km+1) H) over the network, of up to k
// messages one after the other, with ceil(log2 m) inside after each; a rank combines up to k n bytes a round and
// as many more as it has children inside.
#include "core/algorithms/locality_tree.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

static Schedule locality_tree(const Request& request) {
    Dataflow flow;
    pass_up(request, mirrored(locality_place(request)),
            whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

Algorithm locality_tree() {
    return {.collective = Collective::reduce,
            .name = "locality_tree",
            .summary = "up a tree in which all ranks of a host serve other hosts",
            .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
            .build = locality_tree, .segmented = true, .radices = {2, 4}};
}

}  // namespace mutirao::reduce
