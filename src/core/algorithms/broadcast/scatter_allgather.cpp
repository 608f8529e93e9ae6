// Broadcasts that scatter the message and then gather it everywhere, for long messages: a port passes it two or
// three times, however many ranks there are.
#include <algorithm>
#include <utility>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao {
namespace {

/// Scatters one block per virtual rank down the binomial tree, the largest part first. Afterwards virtual rank v holds
/// the blocks v .. binomial_subtree_end(v, size) - 1: its children's too, and what follows need not bring them again.
void scatter(Dataflow& flow, const Request& request, const Blocks& blocks) {
    const int size = request.size;
    const int rank = virtual_rank(request.rank, request.root, size);
    const TreePlace place = k_nomial_place(rank, size, 2);
    const auto part = [&](int of_rank) { return blocks.range(of_rank, binomial_subtree_end(of_rank, size)); };
    if (rank != 0) flow.receive(real_rank(place.parent, request.root, size), part(rank));
    for (const int child : place.children) flow.send(real_rank(child, request.root, size), part(child));
}

bool holds_from_scatter(int rank, int block, int size) {
    return block >= rank && block < binomial_subtree_end(rank, size);
}

// The paper's broadcast for messages of middle length.
//
// Cost, p ranks, n bytes: for a power of two, 2 log2 p steps and at most 2 n bytes through a port. Otherwise the
// last pair of groups is uneven: ranks of the full group whose partner does not exist get the other's blocks from
// ranks beside them, which makes it up to 3 ceil(log2 p) steps and 3.2 n bytes (counted for p <= 130). What the
// scatter left with a rank is not sent to it again. Empty blocks are not sent.
Schedule broadcast_scatter_recursive_doubling_allgather(const Request& request) {
    const int size = request.size;
    const int rank = virtual_rank(request.rank, request.root, size);
    const auto real = [&](int other) { return real_rank(other, request.root, size); };
    const Blocks blocks(request.length_bytes, size);
    Dataflow flow;
    scatter(flow, request, blocks);
    // Each two neighbouring groups of `group` ranks join; the last one may be smaller.
    for (int group = 1; group < size; group *= 2) {
        const int first = rank / (2 * group) * (2 * group);
        const int middle = first + group;
        const int end = std::min(middle + group, size);
        if (middle >= end) continue;
        const bool low = rank < middle;
        const Region low_blocks = blocks.range(first, middle), high_blocks = blocks.range(middle, end);
        const int partner = low ? rank + group : rank - group;
        if (partner < end) {
            // The first rank of all holds the higher group's blocks since the scatter.
            if (partner != first) flow.send(real(partner), low ? low_blocks : high_blocks);
            if (rank != first) flow.receive(real(partner), low ? high_blocks : low_blocks);
        }
        // Of the lower group the first `holders` have the others' blocks; their number doubles until all do.
        const int index = rank - first;
        for (int holders = end - middle; low && holders < group; holders *= 2) {
            if (index < holders && index + holders < group) flow.send(real(rank + holders), high_blocks);
            if (index >= holders && index < 2 * holders) flow.receive(real(rank - holders), high_blocks);
        }
    }
    return std::move(flow).take();
}

// For long messages (in MPICH: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521). Blocks that the
// scatter left with a rank are not sent to it again (as Zhou, Marjanovic, Niethammer and Gracia 2016,
// arXiv:1603.06809).
//
// Cost, p ranks, n bytes: ceil(log2 p) + p - 1 steps; up to p - 1 messages a rank in the ring, all to its
// neighbour; at most 2 n bytes through each port. A block should be worth a message. Empty blocks are not sent.
Schedule broadcast_scatter_ring_allgather(const Request& request) {
    const int size = request.size;
    const int rank = virtual_rank(request.rank, request.root, size);
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    const Blocks blocks(request.length_bytes, size);

    Dataflow flow;
    scatter(flow, request, blocks);
    for (int step = 0; step + 1 < size; ++step) {
        const int outgoing = (rank + size - step) % size;
        if (!holds_from_scatter(next, outgoing, size))
            flow.send(real_rank(next, request.root, size), blocks.block(outgoing));
        const int incoming = (previous + size - step) % size;
        if (!holds_from_scatter(rank, incoming, size))
            flow.receive(real_rank(previous, request.root, size), blocks.block(incoming));
    }
    return std::move(flow).take();
}

}  // namespace

std::vector<Algorithm> broadcast_scatter_allgather_rows() {
    using enum Collective;
    return {
        {.collective = broadcast, .name = "scatter_recursive_doubling_allgather",
         .summary = "binomial scatter, then groups that exchange blocks and double",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = broadcast_scatter_recursive_doubling_allgather, .level = Level::hosts},
        {.collective = broadcast, .name = "scatter_ring_allgather",
         .summary = "binomial scatter, then the blocks go round a ring (van de Geijn)",
         .source = "Barnett et al. 1994, doi:10.1109/SHPCC.1994.296665",
         .build = broadcast_scatter_ring_allgather, .level = Level::hosts},
    };
}

}  // namespace mutirao
