// Every rank sends its operand to all ranks after it at once, and each combines what it gets. It
// follows from what the collective is, and from no paper.
//
// Cost, p ranks, n bytes: one trip; up to p - 1 messages and (p - 1) n bytes leave and enter a
// rank. For few ranks and short messages over long latencies. No restrictions. Operands stay in
// order.
#include "core/algorithms/reduction.h"

namespace mutirao::exscan {

Schedule direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int peer = request.rank + 1; peer < request.size; ++peer) partial.send(peer);
    partial.replace(ranks_from(0, request.rank));
    return std::move(flow).take();
}

}  // namespace mutirao::exscan
