// The linear reduction of early MPI libraries; the paper has it between sites.
//
// Cost, p ranks, n bytes: depth 1; p - 1 messages and (p - 1) n bytes enter the root, which does p - 1 reductions.
// Best for short messages over long latencies. Never segmented: nobody could use a segment before the whole.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

static Schedule flat(const Request& request) {
    Dataflow flow;
    const bool is_root = request.rank == request.root;
    Partial partial = whole_message(flow, request, is_root);
    if (is_root) {
        partial.combine(ranks_from(0, request.rank), ranks_from(request.rank + 1, request.size));
        partial.settle();
    } else {
        partial.send(request.root);
    }
    return std::move(flow).take();
}

Algorithm flat() {
    return {.name = "flat",
            .summary = "every rank sends to the root, which combines in order",
            .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
            .build = flat, .keeps_order = true, .from_first = true};
}

}  // namespace mutirao::reduce
