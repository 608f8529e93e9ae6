// Reduce-scatter over a circulant graph, whose skips are halved from round to round (Traeff 2024,
// arXiv:2410.14234).
//
// Cost, p ranks, blocks of n bytes: ceil(log2 p) rounds for any p, in each one or two messages a
// rank, and (p - 1) n bytes through each port, which is the least possible. No restrictions on the
// number of ranks; operands must commute.
#include "core/algorithms/circulant.h"

namespace mutirao::reduce_scatter_block {

Schedule circulant(const Request& request) {
    const std::size_t whole = static_cast<std::size_t>(request.size) * request.length_bytes;
    const Region result{Buffer::output, 0, request.length_bytes};
    Dataflow flow;
    if (request.size == 1) {
        flow.copy({Buffer::input, 0, whole}, result);
    } else {
        Circulant(flow, request, Blocks(whole, request.size, request.unit_bytes),
                  {Buffer::scratch, 0, whole})
            .reduce_scatter(result);
    }
    return std::move(flow).take();
}

}  // namespace mutirao::reduce_scatter_block
