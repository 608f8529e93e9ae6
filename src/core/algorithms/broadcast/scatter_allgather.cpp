// Broadcasts that scatter the message and then gather it everywhere, for long messages: a port passes it two or
// three times, however many ranks there are.
#include <algorithm>
#include <utility>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao::broadcast {

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

class Doubling {
  public:
    explicit Doubling(const Request& request)
        : request_(request),
          rank_(virtual_rank(request.rank, request.root, request.size)),
          blocks_(request.length_bytes, request.size) {
        scatter(flow_, request, blocks_);
    }

    Schedule run() && {
        for (int group = 1; group < request_.size; group *= 2) double_groups(group);
        return std::move(flow_).take();
    }

  private:
    /// Joins each two neighbouring groups of `group` ranks; the last one may be smaller.
    void double_groups(int group) {
        const int first = rank_ / (2 * group) * (2 * group);
        const int middle = first + group;
        const int end = std::min(middle + group, request_.size);
        if (middle >= end) return;

        const bool low = rank_ < middle;
        const Region low_blocks = blocks_.range(first, middle);
        const Region high_blocks = blocks_.range(middle, end);
        const int partner = low ? rank_ + group : rank_ - group;
        if (partner < end) {
            // The first rank of all holds the higher group's blocks since the scatter.
            if (partner != first) send(partner, low ? low_blocks : high_blocks);
            if (rank_ != first) receive(partner, low ? high_blocks : low_blocks);
        }
        if (low) spread(first, group, end - middle, high_blocks);
    }

    /// Of the `group` ranks from `first`, the first `holders` have these blocks; doubles their
    /// number until all do.
    void spread(int first, int group, int holders, Region blocks) {
        const int index = rank_ - first;
        for (; holders < group; holders *= 2) {
            if (index < holders && index + holders < group) send(rank_ + holders, blocks);
            if (index >= holders && index < 2 * holders) receive(rank_ - holders, blocks);
        }
    }

    void send(int peer, Region blocks) { flow_.send(real(peer), blocks); }
    void receive(int peer, Region blocks) { flow_.receive(real(peer), blocks); }
    int real(int rank) const { return real_rank(rank, request_.root, request_.size); }

    const Request& request_;
    int rank_;
    Blocks blocks_;
    Dataflow flow_;
};

bool holds_from_scatter(int rank, int block, int size) {
    return block >= rank && block < binomial_subtree_end(rank, size);
}

}  // namespace

// The paper's broadcast for messages of middle length.
//
// Cost, p ranks, n bytes: for a power of two, 2 log2 p steps and at most 2 n bytes through a port. Otherwise the
// last pair of groups is uneven: ranks of the full group whose partner does not exist get the other's blocks from
// ranks beside them, which makes it up to 3 ceil(log2 p) steps and 3.2 n bytes (counted for p <= 130). What the
// scatter left with a rank is not sent to it again. Empty blocks are not sent.
static Schedule scatter_recursive_doubling_allgather(const Request& request) {
    return Doubling(request).run();
}

Algorithm scatter_recursive_doubling_allgather() {
    return {.name = "scatter_recursive_doubling_allgather",
            .summary = "binomial scatter, then groups that exchange blocks and double",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = scatter_recursive_doubling_allgather, .level = Level::hosts};
}

// For long messages (in MPICH: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521). Blocks that the
// scatter left with a rank are not sent to it again (as Zhou, Marjanovic, Niethammer and Gracia 2016,
// arXiv:1603.06809).
//
// Cost, p ranks, n bytes: ceil(log2 p) + p - 1 steps; up to p - 1 messages a rank in the ring, all to its
// neighbour; at most 2 n bytes through each port. A block should be worth a message. Empty blocks are not sent.
static Schedule scatter_ring_allgather(const Request& request) {
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

Algorithm scatter_ring_allgather() {
    return {.name = "scatter_ring_allgather",
            .summary = "binomial scatter, then the blocks go round a ring (van de Geijn)",
            .source = "Barnett et al. 1994, doi:10.1109/SHPCC.1994.296665",
            .build = scatter_ring_allgather, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
