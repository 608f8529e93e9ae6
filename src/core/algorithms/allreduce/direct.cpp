// Operands are combined from rank 0 on: the same bits on all ranks and for every layout of ranks on hosts.
//
// Cost, p ranks, n bytes: one trip; p - 1 messages and (p - 1) n bytes leave and enter each rank, which does p - 1
// reductions. For few ranks and short messages over long latencies.
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

static Schedule direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (const int rank : others_of(request.rank, request.size)) partial.send(rank);
    partial.combine(ranks_from(0, request.rank), ranks_from(request.rank + 1, request.size));
    partial.settle();
    return std::move(flow).take();
}

Algorithm direct() {
    return {.collective = Collective::allreduce,
            .name = "direct",
            .summary = "every rank sends to every other and combines by itself",
            .source = "all operands at once, as the collective is defined",
            .build = direct, .keeps_order = true, .from_first = true};
}

}  // namespace mutirao::allreduce
