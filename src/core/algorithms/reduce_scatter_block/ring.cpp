// The first half of the paper's allreduce. In segments, a rank combines one while the next arrives.
//
// Cost, p ranks, blocks of n bytes: p - 1 steps of n bytes between neighbours; (p - 1) n bytes through each port,
// which is the least possible.
#include "core/algorithms/reduction.h"

#include "core/algorithms/equal_blocks.h"

namespace mutirao::reduce_scatter_block {

static Schedule ring(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const Region result{Buffer::output, 0, own_length_bytes(request)};
    const std::size_t second_place = aligned(longest_block_bytes(request));
    Dataflow flow;
    if (request.size == 1) flow.copy(blocks.block(0, Buffer::input), result);
    // Two places, in turns: a block arrives while the one before is sent on.
    ring_reduce_scatter(flow, request, blocks, [&](int step, int block) {
        if (block == request.rank) return result;
        return Region{Buffer::scratch, step % 2 == 0 ? 0 : second_place,
                      blocks.block(block).length_bytes};
    });
    return std::move(flow).take();
}

Algorithm ring() {
    return {.collective = Collective::reduce_scatter_block,
            .name = "ring",
            .summary = "blocks go round a ring and are reduced on the way",
            .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
            .build = ring, .segmented = true, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::reduce_scatter_block
