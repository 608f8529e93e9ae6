// Blocks that go round a ring of all ranks. Where they are reduced, every block starts beside the rank that is to have
// it, and each rank adds its own operand to it; in segments, a rank combines one while the next arrives.
#include <functional>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/shape.h"

namespace mutirao {
namespace {

class Ring {
  public:
    /// `blocks`: of the message, one for each rank.
    Ring(Dataflow& flow, const Request& request, const Blocks& blocks)
        : flow_(flow), request_(request), blocks_(blocks) {}

    /// The block that arrives in a step, 0 .. size - 2, is combined at `place`; the last one is the rank's own.
    /// Operands must commute. Where there is no other rank it is copied there.
    void reduce_scatter(const std::function<Region(int step, int block)>& place) {
        const int size = request_.size;
        const auto operand = [&](int block) { return part_in(Buffer::input, blocks_.block(block)); };
        if (size == 1) flow_.copy(operand(0), place(0, 0));
        Region outgoing = operand(previous());
        for (int step = 0; step + 1 < size; ++step) {
            send(outgoing);
            const int block = (request_.rank + 2 * size - 2 - step) % size;
            const std::vector<Region> own = segments(operand(block));
            outgoing = place(step, block);
            const std::vector<Region> arriving = segments(outgoing);
            for (std::size_t i = 0; i < arriving.size(); ++i) {
                flow_.receive(previous(), arriving[i]);
                flow_.reduce(own[i], arriving[i]);
            }
        }
    }

    /// Blocks come to where the message has them, in the output; `own` is where the rank's own block lies.
    void allgather(Region own) {
        Region outgoing = own;
        for (int distance = 1; distance < request_.size; ++distance) {
            send(outgoing);
            outgoing = blocks_.block(rank_behind(request_, distance));
            for (const Region& segment : segments(outgoing)) flow_.receive(previous(), segment);
        }
    }

  private:
    int previous() const { return rank_behind(request_, 1); }
    std::vector<Region> segments(Region block) const {
        return segments_of(block, request_.parameters.segment_bytes, request_.unit_bytes);
    }
    void send(Region block) {
        for (const Region& segment : segments(block)) flow_.send((request_.rank + 1) % request_.size, segment);
    }

    Dataflow& flow_;
    const Request& request_;
    const Blocks& blocks_;
};

// Cost, p ranks, blocks of n bytes: p - 1 steps and messages a rank, all between neighbours; a port sends and
// receives (p - 1) n bytes. For long blocks.
Schedule allgather_ring(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    Ring(flow, request, blocks).allgather(own_input(request));
    flow.copy(own_input(request), blocks.block(request.rank));
    return std::move(flow).take();
}

// Each rank exchanges with its two neighbours in turn: first the own block, then in each step the two blocks that
// came in the step before.
//
// Cost, p ranks, blocks of n bytes: p / 2 steps and messages a rank, all between neighbours; a port sends and
// receives (p - 1) n bytes. Half of the ring's steps.
Schedule allgather_neighbor_exchange(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const int pairs = request.size / 2;
    const bool even = request.rank % 2 == 0;
    const int side = even ? 1 : -1;
    const int partner = request.rank + side;
    const int other = (request.rank - side + request.size) % request.size;

    flow.copy(own_input(request), blocks.block(request.rank));
    flow.send(partner, own_input(request));
    flow.receive(partner, blocks.block(partner));
    int held = request.rank / 2;  // the pair of ranks whose blocks came last
    for (int step = 1; step < pairs; ++step) {
        const int distance = (step + 1) / 2;
        const bool from_other = step % 2 == 1;
        const int peer = from_other ? other : partner;
        const int sign = from_other ? -side : side;
        const int pair = (request.rank / 2 + sign * distance + pairs) % pairs;
        flow.send(peer, blocks.range(2 * held, 2 * held + 2));
        flow.receive(peer, blocks.range(2 * pair, 2 * pair + 2));
        held = pair;
    }
    return std::move(flow).take();
}

// Cost, p ranks, n bytes: 2 (p - 1) steps of n / p bytes between neighbours; 2 n (p - 1) / p bytes through each
// port, which is the least possible. For long messages: a block should be worth a message. Empty blocks are not
// sent.
Schedule allreduce_ring(const Request& request) {
    const Blocks blocks(request.length_bytes, request.size, request.unit_bytes);
    Dataflow flow;
    Ring around(flow, request, blocks);
    around.reduce_scatter([&](int, int block) { return blocks.block(block); });
    around.allgather(blocks.block(request.rank));
    return std::move(flow).take();
}

// The first half of the paper's allreduce.
//
// Cost, p ranks, blocks of n bytes: p - 1 steps of n bytes between neighbours; (p - 1) n bytes through each port,
// which is the least possible.
Schedule reduce_scatter_block_ring(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const Region result{Buffer::output, 0, own_length_bytes(request)};
    const std::size_t second_place = aligned(longest_block_bytes(request));
    Dataflow flow;
    // Two places, in turns: a block arrives while the one before is sent on.
    Ring(flow, request, blocks).reduce_scatter([&](int step, int block) {
        if (block == request.rank) return result;
        return Region{Buffer::scratch, step % 2 == 0 ? 0 : second_place, blocks.block(block).length_bytes};
    });
    return std::move(flow).take();
}

}  // namespace

std::vector<Algorithm> ring_rows() {
    using enum Collective;
    return {
        {.collective = allgather, .name = "ring", .summary = "the blocks go round a ring",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allgather_ring, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "neighbor_exchange",
         .summary = "two blocks at a time between neighbours, in turn",
         .source = "Chen et al. 2005, doi:10.1109/HPCASIA.2005.79",
         .build = allgather_neighbor_exchange, .fits = [](int size) { return size % 2 == 0; },
         .blocks = InBlocks::uneven},
        {.collective = allreduce, .name = "ring",
         .summary = "blocks go round a ring, reduced on the way, then once more",
         .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
         .build = allreduce_ring, .segmented = true, .segments_of_blocks = true},
        {.collective = reduce_scatter_block, .name = "ring",
         .summary = "blocks go round a ring and are reduced on the way",
         .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
         .build = reduce_scatter_block_ring, .segmented = true, .blocks = InBlocks::uneven},
    };
}

}  // namespace mutirao
