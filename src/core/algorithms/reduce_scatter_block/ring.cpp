// Blocks go round a ring and are reduced on the way (the first half of the allreduce of Patarasuk
// and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002). In segments, a rank combines one while the next
// arrives.
//
// Cost, p ranks, blocks of n bytes: p - 1 steps of n bytes between neighbours; (p - 1) n bytes
// through each port, which is the least possible. No restrictions on the number of ranks; operands
// must commute.
#include "core/algorithms/ring.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce_scatter_block {

Schedule ring(const Request& request) {
    const std::size_t length = request.length_bytes;
    const Region result{Buffer::output, 0, length};
    const Blocks blocks(static_cast<std::size_t>(request.size) * length, request.size,
                        request.unit_bytes);
    Dataflow flow;
    if (request.size == 1) flow.copy({Buffer::input, 0, length}, result);
    // Two places, in turns: a block arrives while the one before is sent on.
    ring_reduce_scatter(flow, request, blocks, [&](int step, int block) {
        const std::size_t turn = step % 2 == 0 ? 0 : aligned(length);
        return block == request.rank ? result : Region{Buffer::scratch, turn, length};
    });
    return std::move(flow).take();
}

}  // namespace mutirao::reduce_scatter_block
