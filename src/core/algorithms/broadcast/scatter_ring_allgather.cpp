// For long messages (in MPICH: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521). Blocks that the
// scatter left with a rank are not sent to it again (as Zhou, Marjanovic, Niethammer and Gracia 2016,
// arXiv:1603.06809).
//
// Cost, p ranks, n bytes: ceil(log2 p) + p - 1 steps; up to p - 1 messages a rank in the ring, all to its
// neighbour; at most 2 n bytes through each port. A block should be worth a message. Empty blocks are not sent.
#include "core/algorithms/broadcast/scatter.h"

namespace mutirao::broadcast {

namespace {

bool holds_from_scatter(int rank, int block, int size) {
    return block >= rank && block < binomial_subtree_end(rank, size);
}

}  // namespace

static Schedule scatter_ring_allgather(const Request& request) {
    Schedule schedule;
    const int size = request.size;
    const int rank = virtual_rank(request.rank, request.root, size);
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    const Blocks blocks(request.length_bytes, size);

    const std::vector<StepId> scattered = scatter(schedule, request, blocks);
    std::vector<StepId> received;  // the last block's receive, if the ring brought it
    for (int step = 0; step + 1 < size; ++step) {
        const int outgoing = (rank + size - step) % size;
        const Region sent = blocks.block(outgoing);
        if (sent.length_bytes > 0 && !holds_from_scatter(next, outgoing, size)) {
            const bool own = holds_from_scatter(rank, outgoing, size);
            schedule.send(real_rank(next, request.root, size), sent, own ? scattered : received);
        }
        const int incoming = (previous + size - step) % size;
        const Region brought = blocks.block(incoming);
        if (brought.length_bytes > 0 && !holds_from_scatter(rank, incoming, size)) {
            received.assign(
                1, schedule.receive(real_rank(previous, request.root, size), brought));
        }
    }
    return schedule;
}

Algorithm scatter_ring_allgather() {
    return {.collective = Collective::broadcast,
            .name = "scatter_ring_allgather",
            .summary = "binomial scatter, then the blocks go round a ring (van de Geijn)",
            .source = "Barnett et al. 1994, doi:10.1109/SHPCC.1994.296665",
            .build = scatter_ring_allgather, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
