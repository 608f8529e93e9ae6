// Up the tree of broadcast/locality_tree, with its source: all ranks of a host receive from other hosts and
// combine what comes before they hand it on inside.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: depth ceil(log_(km+1) H) over the network, of up to k
// messages one after the other, with ceil(log2 m) inside after each; a rank combines up to k n bytes a round
// and as many more as it has children inside. Operands must commute.
#include "core/algorithms/locality_tree.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

Schedule locality_tree(const Request& request) {
    Dataflow flow;
    pass_up(request, mirrored(locality_place(request)),
            whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

}  // namespace mutirao::reduce
