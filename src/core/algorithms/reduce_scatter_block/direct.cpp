// Operands are combined from rank 0 on: the same bits for every layout of ranks on hosts.
//
// Cost, p ranks, blocks of n bytes: one trip; p - 1 messages and (p - 1) n bytes leave and enter each rank, which
// is the least possible. For few ranks, or long blocks in a network without bottlenecks.
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce_scatter_block {

static Schedule direct(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const auto operand = [&](int block) { return blocks.block(block, Buffer::input); };
    for (const int rank : others_of(request.rank, request.size)) flow.send(rank, operand(rank));
    Partial partial(flow, operand(request.rank), {Buffer::output, 0, own_length_bytes(request)});
    partial.combine(ranks_from(0, request.rank), ranks_from(request.rank + 1, request.size));
    partial.settle();
    return std::move(flow).take();
}

Algorithm direct() {
    return {.name = "direct",
            .summary = "every rank sends each other its block and combines in order",
            .source = "all operands at once, as the collective is defined",
            .build = direct, .keeps_order = true, .from_first = true, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::reduce_scatter_block
