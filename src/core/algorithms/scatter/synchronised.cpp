// A rank says by an empty message that it is ready, so that no block arrives where nobody waits for it, and none
// for a late rank is in the way of the others (what MPI libraries do with long messages).
//
// Cost, p ranks, blocks of n bytes: as linear, and one trip more. It pays where ranks come late and blocks are
// short enough to be sent unasked, which no prediction knows.
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/shape.h"

namespace mutirao::scatter {

static Schedule synchronised(const Request& request) {
    Schedule schedule;
    const Region mine{Buffer::output, 0, own_length_bytes(request)};
    if (request.rank != request.root) {
        if (mine.length_bytes > 0) schedule.send(request.root, signal);
        for (const Region& message : messages_of(mine)) schedule.receive(request.root, message);
        return schedule;
    }
    const Blocks blocks = blocks_of(request);
    for (int distance = 1; distance < request.size; ++distance) {
        const int peer = real_rank(distance, request.root, request.size);
        const Region block = blocks.block(peer, Buffer::input);
        if (block.length_bytes == 0) continue;
        const StepId ready = schedule.receive(peer, signal);
        for (const Region& message : messages_of(block)) schedule.send(peer, message, {&ready, 1});
    }
    copy_messages(schedule, blocks.block(request.root, Buffer::input), mine);
    return schedule;
}

Algorithm synchronised() {
    return {.collective = Collective::scatter,
            .name = "synchronised",
            .summary = "the root sends each rank its block once that says that it is ready",
            .source = "the counterpart of Open MPI's gather linear_sync",
            .build = synchronised, .blocks = InBlocks::own};
}

}  // namespace mutirao::scatter
