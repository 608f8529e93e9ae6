// Reduce-scatter over a circulant graph, whose skips are halved from round to round (Traeff 2024,
// arXiv:2410.14234).
//
// Cost, p ranks, blocks of n bytes: ceil(log2 p) rounds for any p, in each one or two messages a
// rank, and (p - 1) n bytes through each port, which is the least possible. No restrictions on the
// number of ranks; operands must commute.
#include "core/algorithms/circulant.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::reduce_scatter_block {

Schedule circulant(const Request& request) {
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

}  // namespace mutirao::reduce_scatter_block
