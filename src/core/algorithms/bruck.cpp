// Bruck's algorithms: what goes to many ranks goes over few distances, many blocks in a message.
#include <algorithm>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao {
namespace {

// Each rank holds the blocks from its own on, counted round, and gets as many again from each of k - 1 ranks ahead
// a round. They are staged in that order in scratch memory, so that a message is one piece, and copied to their
// places while the next round is on its way; the last round's, which are the most, are not sent again and come to
// their places at once, over the last rank's as two messages.
//
// Cost, p ranks, radix k, blocks of n bytes: ceil(log_k p) rounds of up to k - 1 messages (twice as many in the
// last); a port sends and receives (p - 1) n bytes. Scratch for the blocks of all rounds but the last, the
// greatest power of k below p, and a copy of each.
Schedule allgather_bruck(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const Blocks ahead = blocks_from_rank(request, request.rank);
    const auto staged = [&](int first, int count) { return ahead.range(first, first + count, Buffer::scratch); };
    const auto placed = [&](const BlockRun& run) { return blocks.range(run.first, run.first + run.count); };
    const int size = request.size;
    const long long radix = request.parameters.radix;

    Dataflow flow;
    flow.copy(own_input(request), blocks.block(request.rank));
    if (size > radix) flow.copy(own_input(request), staged(0, 1));
    for (long long held = 1; held < size; held *= radix) {
        const bool last = held * radix >= size;
        for (long long next = held; next < held * radix && next < size; next += held) {
            const int distance = static_cast<int>(next);
            const int count = static_cast<int>(std::min(held, size - next));
            const int to = rank_behind(request, distance), from = (request.rank + distance) % size;
            const auto in_one_piece = std::vector<BlockRun>{{0, count, 0}};
            for (const BlockRun& run : last ? runs_of(request.rank, count, size) : in_one_piece)
                flow.send(to, count == 1 ? own_input(request) : staged(run.offset, run.count));
            if (!last) flow.receive(from, staged(distance, count));
            for (const BlockRun& run : runs_of(from, count, size)) {
                if (last) flow.receive(from, placed(run));
                else flow.copy(staged(distance + run.offset, run.count), placed(run));
            }
        }
    }
    return std::move(flow).take();
}

/// The blocks whose way has `digit` at `weight`: they come in runs of `weight` ways.
struct Hop {
    int weight;
    int digit;
    int radix;
    int size;
    int packed = 0;   ///< where its message is made up in the scratch memory, in blocks
    int arrived = 0;  ///< where its message is received there; the last weight's is not

    int distance() const { return weight * digit; }
    int stride() const { return weight * radix; }
    bool last() const { return stride() >= size; }
    int count() const {
        return size / stride() * weight + std::clamp(size % stride() - distance(), 0, weight);
    }
    /// Where the block of a way lies in its message.
    int index_of(int way) const { return way / stride() * weight + way % weight; }
};

class Bruck {
  public:
    explicit Bruck(const Request& request)
        : request_(request), rank_(request.rank), size_(request.size),
          radix_(request.parameters.radix), blocks_(blocks_of(request)) {}

    Schedule run() && {
        plan();
        flow_.copy(own(0), blocks_.block(rank_));
        for (int way = 1; way < size_; ++way) {
            const Hop& hop = next_hop(way, 1);
            if (hop.count() > 1) pack(own(way), hop, way);
        }
        for (const Hop& hop : hops_) {
            send(hop);
            receive(hop);
        }
        return std::move(flow_).take();
    }

  private:
    void plan() {
        int blocks = 0;
        for (int weight = 1; weight < size_; weight *= radix_) {
            for (int digit = 1; digit < radix_ && weight * digit < size_; ++digit) {
                Hop hop{.weight = weight, .digit = digit, .radix = radix_, .size = size_};
                const int count = hop.count();
                hop.packed = blocks;
                if (count > 1) blocks += count;
                hop.arrived = blocks;
                if (!hop.last()) blocks += count;
                hops_.push_back(hop);
            }
        }
    }

    /// The hop for a way's lowest digit from weight `least` on that is not 0.
    const Hop& next_hop(int way, int least) const {
        std::size_t before = 0;
        int weight = 1;
        for (; weight < least || way / weight % radix_ == 0; weight *= radix_) {
            before += static_cast<std::size_t>(radix_ - 1);
        }
        return hops_[before + static_cast<std::size_t>(way / weight % radix_ - 1)];
    }

    Region own(int way) const { return blocks_.block(rank_behind(request_, way), Buffer::input); }
    Region scratch(int first, int count) const { return blocks_.range(first, first + count, Buffer::scratch); }
    Region placed(const BlockRun& run) const { return blocks_.range(run.first, run.first + run.count); }

    void pack(Region from, const Hop& hop, int way) {
        Region into = scratch(hop.packed + hop.index_of(way), 1);
        into.length_bytes = from.length_bytes;
        flow_.copy(from, into);
    }

    void send(const Hop& hop) {
        const int behind = rank_behind(request_, hop.distance());
        const int count = hop.count();
        if (count == 1) {
            flow_.send(behind, own(hop.distance()));
        } else if (hop.last()) {
            for (const BlockRun& run : runs_of(rank_, count, size_))
                flow_.send(behind, scratch(hop.packed + run.offset, run.count));
        } else {
            flow_.send(behind, scratch(hop.packed, count));
        }
    }

    void receive(const Hop& hop) {
        const int ahead = (rank_ + hop.distance()) % size_;
        const int count = hop.count();
        if (hop.last()) {
            for (const BlockRun& run : runs_of(ahead, count, size_)) flow_.receive(ahead, placed(run));
            return;
        }
        flow_.receive(ahead, scratch(hop.arrived, count));
        // The first run's ways end here; all ways of another go on by the same hop.
        const int ending = std::min(hop.weight, size_ - hop.distance());
        for (const BlockRun& run : runs_of(ahead, ending, size_))
            flow_.copy(scratch(hop.arrived + run.offset, run.count), placed(run));
        for (int way = hop.distance() + hop.stride(); way < size_; way += hop.stride()) {
            const int blocks = std::min(hop.weight, size_ - way);
            pack(scratch(hop.arrived + hop.index_of(way), blocks), next_hop(way, hop.stride()), way);
        }
    }

    const Request& request_;
    int rank_;
    int size_;
    int radix_;
    Blocks blocks_;
    Dataflow flow_;
    std::vector<Hop> hops_;  ///< by weight, then by digit
};

// A block that has to go i ranks back goes there in as many hops as i has digits to base k that are not 0, the
// lowest first; all blocks of one hop of one rank are one message. There is no rotation before and after: each
// block is copied straight from where it arrived to where its next message is made up, and those that only have
// the highest digit to go come to their places at once, over the last rank's as two messages.
//
// Cost, p ranks, radix k, blocks of n bytes: ceil(log_k p) rounds of up to k - 1 messages; a port sends about
// (k - 1) / k p log_k p blocks, so it is for short ones. Scratch for up to twice as many. Blocks must be equal:
// ranks on the way know no others' lengths (with lengths sent ahead: Fan et al. 2025,
// doi:10.1145/3731545.3731590).
Schedule alltoall_bruck(const Request& request) { return Bruck(request).run(); }

}  // namespace

std::vector<Algorithm> bruck_rows() {
    using enum Collective;
    return {
        {.collective = allgather, .name = "bruck",
         .summary = "all that is held comes from ranks ahead, at growing distances",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather_bruck, .radices = {2, 4, 8}, .blocks = InBlocks::uneven},
        {.collective = alltoall, .name = "bruck",
         .summary = "blocks travel digit by digit of their distance, many in a message",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = alltoall_bruck, .radices = {2, 4, 8}},
    };
}

}  // namespace mutirao
