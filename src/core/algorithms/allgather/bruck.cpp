// Each rank holds the blocks from its own on, counted round, and gets as many again from each of k - 1 ranks ahead
// a round. They are staged in that order in scratch memory, so that a message is one piece, and copied to their
// places while the next round is on its way; the last round's, which are the most, are not sent again and come to
// their places at once, over the last rank's as two messages.
//
// Cost, p ranks, radix k, blocks of n bytes: ceil(log_k p) rounds of up to k - 1 messages (twice as many in the
// last); a port sends and receives (p - 1) n bytes. Scratch for the blocks of all rounds but the last, the
// greatest power of k below p, and a copy of each.
#include <algorithm>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

Schedule bruck(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const Blocks ahead = blocks_from_rank(request, request.rank);
    const auto staged = [&](int first, int count) { return ahead.range(first, first + count, Buffer::scratch); };
    const auto placed = [&](const BlockRun& run) { return blocks.range(run.first, run.first + run.count); };
    const int size = request.size;
    const long long radix = request.parameters.radix;

    Dataflow flow;
    flow.copy(own_input(request), blocks.block(request.rank));
    if (size > radix) flow.copy(own_input(request), staged(0, 1));
    for (long long held = 1; held < size; held *= radix) {
        const bool last = held * radix >= size;
        for (long long next = held; next < held * radix && next < size; next += held) {
            const int distance = static_cast<int>(next);
            const int count = static_cast<int>(std::min(held, size - next));
            const int to = rank_behind(request, distance), from = (request.rank + distance) % size;
            const auto in_one_piece = std::vector<BlockRun>{{0, count, 0}};
            for (const BlockRun& run : last ? runs_of(request.rank, count, size) : in_one_piece)
                flow.send(to, count == 1 ? own_input(request) : staged(run.offset, run.count));
            if (!last) flow.receive(from, staged(distance, count));
            for (const BlockRun& run : runs_of(from, count, size)) {
                if (last) flow.receive(from, placed(run));
                else flow.copy(staged(distance + run.offset, run.count), placed(run));
            }
        }
    }
    return std::move(flow).take();
}

}  // namespace mutirao::allgather
