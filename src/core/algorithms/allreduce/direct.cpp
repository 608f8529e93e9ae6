// Every rank sends its operand to every other one at once, and each combines all of them by
// itself, from rank 0 on: the same bits on all ranks and for every layout of ranks on hosts. It
// follows from what the collective is, and from no paper.
//
// Cost, p ranks, n bytes: one trip; p - 1 messages and (p - 1) n bytes leave and enter each rank,
// which does p - 1 reductions. For few ranks and short messages over long latencies. No
// restrictions. Operands stay in order.
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

Schedule direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int step = 1; step < request.size; ++step) {
        partial.send((request.rank + step) % request.size);
    }
    partial.combine(ranks_from(0, request.rank), ranks_from(request.rank + 1, request.size));
    partial.settle();
    return std::move(flow).take();
}

}  // namespace mutirao::allreduce
