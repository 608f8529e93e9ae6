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
    return {.name = "direct",
            .summary = "every rank sends to every other and combines by itself",
            .source = "all operands at once, as the collective is defined",
            .build = direct, .keeps_order = true, .from_first = true};
}

// Reduce-scatter and allgather, of which the paper puts its allreduce of long vectors together, in a single step
// each.
//
// Cost, p ranks, n bytes: two trips; 2 (p - 1) messages and 2 n (p - 1) / p bytes leave and enter each rank, which
// is the least possible. No link carries more than 2 n / p bytes. For messages that are worth p shares, over long
// latencies. Empty shares are not sent.
static Schedule direct_shares(const Request& request) {
    const Blocks shares(request.length_bytes, request.size, request.unit_bytes);
    Dataflow flow;
    const Partial whole = whole_message(flow, request, true);
    Partial own = whole;
    own.narrow(shares.block(request.rank));
    const std::vector<int> others = others_of(request.rank, request.size);
    for (const int rank : others) whole.send(shares.block(rank), rank);
    own.combine(ranks_from(0, request.rank), ranks_from(request.rank + 1, request.size));
    own.settle();
    for (const int rank : others) own.send(rank);
    for (const int rank : others) flow.receive(rank, shares.block(rank));
    return std::move(flow).take();
}

Algorithm direct_shares() {
    return {.name = "direct_shares",
            .summary = "every rank combines a share of all operands and sends it to every other",
            .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = direct_shares, .keeps_order = true, .from_first = true};
}

}  // namespace mutirao::allreduce
