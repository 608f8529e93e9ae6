// Cost, p ranks, n bytes: one trip; up to p - 1 messages and (p - 1) n bytes leave and enter a rank. For few ranks
// and short messages over long latencies.
#include "core/algorithms/reduction.h"

namespace mutirao::scan {

static Schedule direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int peer = request.rank + 1; peer < request.size; ++peer) partial.send(peer);
    partial.combine(ranks_from(0, request.rank), {});
    partial.settle();
    return std::move(flow).take();
}

Algorithm direct() {
    return {.name = "direct",
            .summary = "every rank sends to all ranks after it",
            .source = "all operands at once, as the collective is defined",
            .build = direct, .keeps_order = true, .from_first = true};
}

}  // namespace mutirao::scan
