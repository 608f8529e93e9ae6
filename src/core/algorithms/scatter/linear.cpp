// The root sends every rank its block, as every MPI library does for long blocks (compared with
// trees by Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521).
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages; each block passes one link. The root's
// port sends (p - 1) n bytes under any algorithm. No restrictions.
#include "core/algorithms/equal_blocks.h"

namespace mutirao::scatter {

Schedule linear(const Request& request) {
    Schedule schedule;
    if (request.length_bytes == 0) return schedule;
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    if (request.rank != request.root) {
        schedule.receive(request.root, mine);
        return schedule;
    }
    for (int distance = 1; distance < request.size; ++distance) {
        const int peer = real_rank(distance, request.root, request.size);
        schedule.send(peer, nth_block(Buffer::input, peer, request.length_bytes));
    }
    schedule.copy(nth_block(Buffer::input, request.root, request.length_bytes), mine);
    return schedule;
}

}  // namespace mutirao::scatter
