// As every MPI library does for long blocks; the paper compares it with trees.
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages; each block passes one link. The root's port takes
// (p - 1) n bytes under any algorithm. Segments that are short enough go without asking the receiver.
#include "core/algorithms/equal_blocks.h"

namespace mutirao::gather {

static Schedule linear(const Request& request) {
    const std::size_t segment_bytes = request.parameters.segment_bytes;
    Schedule schedule;
    if (request.rank != request.root) {
        for (const Region& message : messages_of(own_input(request), segment_bytes)) {
            schedule.send(request.root, message);
        }
        return schedule;
    }
    const Blocks blocks = blocks_of(request);
    copy_messages(schedule, own_input(request), blocks.block(request.rank));
    for (int distance = 1; distance < request.size; ++distance) {
        const int peer = real_rank(distance, request.root, request.size);
        for (const Region& message : messages_of(blocks.block(peer), segment_bytes)) {
            schedule.receive(peer, message);
        }
    }
    return schedule;
}

Algorithm linear() {
    return {.name = "linear",
            .summary = "every rank sends to the root at once",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = linear, .segmented = true, .blocks = InBlocks::own};
}

}  // namespace mutirao::gather
