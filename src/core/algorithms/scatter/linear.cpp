// As every MPI library does for long blocks; the paper compares it with trees.
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages; each block passes one link. The root's port sends
// (p - 1) n bytes under any algorithm. Segments that are short enough go without asking the receiver.
#include "core/algorithms/equal_blocks.h"

namespace mutirao::scatter {

static Schedule linear(const Request& request) {
    Schedule schedule;
    const Region mine{Buffer::output, 0, own_length_bytes(request)};
    const std::size_t segment_bytes = request.parameters.segment_bytes;
    if (request.rank != request.root) {
        for (const Region& message : messages_of(mine, segment_bytes)) schedule.receive(request.root, message);
        return schedule;
    }
    const Blocks blocks = blocks_of(request);
    for (int distance = 1; distance < request.size; ++distance) {
        const int peer = real_rank(distance, request.root, request.size);
        for (const Region& message : messages_of(blocks.block(peer, Buffer::input), segment_bytes)) {
            schedule.send(peer, message);
        }
    }
    copy_messages(schedule, blocks.block(request.root, Buffer::input), mine);
    return schedule;
}

Algorithm linear() {
    return {.name = "linear",
            .summary = "the root sends to every rank itself",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = linear, .segmented = true, .blocks = InBlocks::own};
}

}  // namespace mutirao::scatter
