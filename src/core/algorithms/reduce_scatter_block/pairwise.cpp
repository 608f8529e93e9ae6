// In step k a rank sends the block of the rank k ahead and receives for its own from the rank k behind.
//
// Cost, p ranks, blocks of n bytes: p - 1 steps of n bytes, which is the least through each port, and never more
// than one message on the way to a rank.
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce_scatter_block {

Schedule pairwise(const Request& request) {
    const int size = request.size;
    const Blocks blocks = blocks_of(request);
    const std::size_t length = own_length_bytes(request);
    const Region result{Buffer::output, 0, length};
    const auto operand = [&](int block) { return blocks.block(block, Buffer::input); };
    Dataflow flow;
    if (size == 1) flow.copy(operand(0), result);

    StepId received = Dataflow::no_id;
    for (int step = 1; step < size; ++step) {
        const int target = (request.rank + step) % size;
        const int source = (request.rank + size - step) % size;
        flow.send(target, operand(target), received);
        // Two places, in turns: one message arrives while the one before is combined.
        const Region arriving =
            step == 1 ? result
                      : Region{Buffer::scratch, step % 2 == 0 ? 0 : aligned(length), length};
        received = flow.receive(source, arriving);
        flow.reduce(step == 1 ? operand(request.rank) : arriving, result);
    }
    return std::move(flow).take();
}

}  // namespace mutirao::reduce_scatter_block
