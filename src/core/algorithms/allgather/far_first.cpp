// Allgathers that send every block down a binomial tree of its own, the longest distances first: while there are
// few blocks to send they go far, and the many of the last steps go to near ranks.
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/trees.h"

namespace mutirao::allgather {

namespace {

class FarFirst {
  public:
    explicit FarFirst(const Request& request)
        : request_(request),
          blocks_(blocks_of(request)),
          packing_(flow_, request.length_bytes),
          at_(static_cast<std::size_t>(request.size)) {
        at(0) = own_input(request);
    }

    Schedule run(int most_blocks) && {
        for (const TreeHops& hops : far_first_hops(request_.size, most_blocks)) {
            send(hops);
            receive(hops);
        }
        flow_.copy(own_input(request_), placed(0));
        return std::move(flow_).take();
    }

  private:
    Region placed(int distance) const {
        return blocks_.block(rank_behind(request_, distance));
    }
    /// Where the block of the rank that is so far behind was received.
    Region& at(int distance) { return at_[static_cast<std::size_t>(distance)]; }

    void send(const TreeHops& hops) {
        std::vector<Region> blocks;
        for (const int from : hops.from) blocks.push_back(at(from));
        flow_.send((request_.rank + hops.distance) % request_.size, packing_.packed(blocks));
    }

    void receive(const TreeHops& hops) {
        const bool alone = hops.from.size() == 1;
        const Region message = alone ? placed(hops.from.front() + hops.distance)
                                     : packing_.room(hops.from.size());
        flow_.receive(rank_behind(request_, hops.distance), message);
        for (std::size_t i = 0; i < hops.from.size(); ++i) {
            const int reached = hops.from[i] + hops.distance;
            at(reached) = alone ? message : packing_.block(message, i);
            if (!alone) flow_.copy(at(reached), placed(reached));
        }
    }

    const Request& request_;
    Dataflow flow_;
    Blocks blocks_;
    Packing packing_;
    std::vector<Region> at_;
};

/// Blocks that go the same way are packed, up to `most_blocks` into a message. A block goes on as
/// soon as its message has come.
Schedule far_first(const Request& request, int most_blocks) {
    if (request.length_bytes == 0) return {};
    return FarFirst(request).run(most_blocks);
}

}  // namespace

// Blocks are received where they belong, each in a message of its own, and go on as soon as they have come.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p - 1 messages a rank to ceil(log2 p) ranks; a port sends
// and receives (p - 1) n bytes, about half of them to and from a neighbour.
static Schedule sparbit(const Request& request) { return far_first(request, 1); }

Algorithm sparbit() {
    return {.collective = Collective::allgather,
            .name = "sparbit",
            .summary = "far ranks first, so that most blocks go to near ones",
            .source = "Loch and Koslovski 2021, arXiv:2109.08751",
            .build = sparbit, .blocks = InBlocks::uneven};
}

// The trees of sparbit. The paper bounds the blocks of a message by its buffers; here each message has its own
// memory, and what is bounded is how long a block waits for others and how much is copied.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p); the step over distance d takes p / (2 d) blocks in
// messages of up to `radix`, so ceil(log2 p) messages a rank if p / 2 fit in one. A port sends and receives
// (p - 1) n bytes, about half of them to and from a neighbour; blocks that travel together are copied twice by
// each rank. Scratch for them, twice.
static Schedule pat(const Request& request) { return far_first(request, request.parameters.radix); }

Algorithm pat() {
    return {.collective = Collective::allgather,
            .name = "pat",
            .summary = "as sparbit, with up to `radix` blocks in a message",
            .source = "Jeaugey 2025, arXiv:2506.20252",
            .build = pat, .radices = {4, 16, 64}};
}

}  // namespace mutirao::allgather
