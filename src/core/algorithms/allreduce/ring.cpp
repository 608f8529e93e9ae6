// In segments, a rank combines one while the next arrives.
//
// Cost, p ranks, n bytes: 2 (p - 1) steps of n / p bytes between neighbours; 2 n (p - 1) / p bytes through each
// port, which is the least possible. For long messages: a block should be worth a message. Empty blocks are not
// sent.
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

static Schedule ring(const Request& request) {
    const Blocks blocks(request.length_bytes, request.size, request.unit_bytes);
    Dataflow flow;
    if (request.size == 1) {
        whole_message(flow, request, true).settle();
    } else {
        ring_reduce_scatter(flow, request, blocks,
                            [&](int, int block) { return blocks.block(block); });
        ring_allgather(flow, request, blocks);
    }
    return std::move(flow).take();
}

Algorithm ring() {
    return {.collective = Collective::allreduce,
            .name = "ring",
            .summary = "blocks go round a ring, reduced on the way, then once more",
            .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
            .build = ring, .segmented = true, .segments_of_blocks = true};
}

}  // namespace mutirao::allreduce
