// Over a circulant graph, whose skips are halved from round to round.
//
// Cost, p ranks, blocks of n bytes: ceil(log2 p) rounds for any p, in each one or two messages a rank, and
// (p - 1) n bytes through each port, which is the least possible.
#include "core/algorithms/circulant.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::reduce_scatter_block {

static Schedule circulant(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const Region result{Buffer::output, 0, own_length_bytes(request)};
    Dataflow flow;
    if (request.size == 1) {
        flow.copy(blocks.block(0, Buffer::input), result);
    } else {
        Circulant(flow, request, blocks, blocks.range(0, request.size, Buffer::scratch))
            .reduce_scatter(result);
    }
    return std::move(flow).take();
}

Algorithm circulant() {
    return {.collective = Collective::reduce_scatter_block,
            .name = "circulant",
            .summary = "along halving skips, for any number of ranks",
            .source = "Traeff 2024, arXiv:2410.14234",
            .build = circulant, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::reduce_scatter_block
