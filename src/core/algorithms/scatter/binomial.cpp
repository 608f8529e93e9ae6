// Down the binomial tree: each rank gets the blocks of its subtree in one piece, whose ranks are
// consecutive counted from the root, and passes on those of its children (Thakur, Rabenseifner and
// Gropp 2005, doi:10.1177/1094342005051521). From the root the one piece that goes over the last
// rank goes as two messages, so that nothing has to be packed, from any root.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p messages at most; a block is sent up to
// ceil(log2 p) times, so it is for short blocks. Scratch for up to p / 2 blocks. No restrictions.
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::scatter {

namespace {

Schedule at_root(const Request& request) {
    Schedule schedule;
    for (const int child : k_nomial_place(0, request.size, 2).children) {
        const int peer = real_rank(child, request.root, request.size);
        const int count = binomial_subtree_end(child, request.size) - child;
        for (const BlockRun& run : runs_of(peer, count, request.size)) {
            schedule.send(peer, blocks_from(Buffer::input, run.first, run.count,
                                            request.length_bytes));
        }
    }
    schedule.copy(nth_block(Buffer::input, request.root, request.length_bytes),
                  nth_block(Buffer::output, 0, request.length_bytes));
    return schedule;
}

}  // namespace

Schedule binomial(const Request& request) {
    if (request.length_bytes == 0) return {};
    if (request.rank == request.root) return at_root(request);

    Schedule schedule;
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    const int rank = virtual_rank(request.rank, request.root, request.size);
    const TreePlace place = k_nomial_place(rank, request.size, 2);
    const int parent = real_rank(place.parent, request.root, request.size);
    const int count = binomial_subtree_end(rank, request.size) - rank;
    if (count == 1) {
        schedule.receive(parent, mine);
        return schedule;
    }
    // The block of virtual rank r is the (r - rank)-th in the scratch memory.
    std::vector<BlockRun> runs{{request.rank, count, 0}};
    if (parent == request.root) runs = runs_of(request.rank, count, request.size);
    std::vector<StepId> arrivals;
    for (const BlockRun& run : runs) {
        arrivals.push_back(schedule.receive(
            parent, blocks_from(Buffer::scratch, run.offset, run.count, request.length_bytes)));
    }
    for (const int child : place.children) {
        const int blocks = binomial_subtree_end(child, request.size) - child;
        schedule.send(real_rank(child, request.root, request.size),
                      blocks_from(Buffer::scratch, child - rank, blocks, request.length_bytes),
                      arrivals);
    }
    schedule.copy(nth_block(Buffer::scratch, 0, request.length_bytes), mine,
                  Schedule::After(arrivals).first(1));
    return schedule;
}

}  // namespace mutirao::scatter
