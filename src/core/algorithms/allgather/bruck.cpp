// Each rank holds the blocks from its own on, counted round, and gets as many again from each of k - 1 ranks ahead
// a round. They are staged in that order in scratch memory, so that a message is one piece, and copied to their
// places while the next round is on its way; the last round's, which are the most, are not sent again and come to
// their places at once, over the last rank's as two messages.
//
// Cost, p ranks, radix k, blocks of n bytes: ceil(log_k p) rounds of up to k - 1 messages (twice as many in the
// last); a port sends and receives (p - 1) n bytes. Scratch for the blocks of all rounds but the last, the
// greatest power of k below p, and a copy of each.
#include <algorithm>
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

namespace {

class Bruck {
  public:
    explicit Bruck(const Request& request)
        : request_(request), blocks_(blocks_of(request)),
          ahead_(blocks_from_rank(request, request.rank)) {}

    Schedule run() && {
        steps_.copy(own_input(request_), blocks_.block(request_.rank));
        const long long size = request_.size;
        const long long radix = request_.parameters.radix;
        for (long long held = 1; held < size; held *= radix) {
            const bool last = held * radix >= size;
            if (held == 1 && !last) {
                held_.push_back(steps_.copy(own_input(request_), staged(0, 1)));
            }
            const std::size_t before = held_.size();
            for (long long i = 1; i < radix && i * held < size; ++i) {
                const long long distance = i * held;
                const int count = static_cast<int>(std::min(held, size - distance));
                exchange(static_cast<int>(distance), count, before, last);
            }
        }
        return std::move(steps_).take();
    }

  private:
    /// Blocks by their distance ahead of the own.
    Region staged(int first, int count) const {
        return ahead_.range(first, first + count, Buffer::scratch);
    }
    Region placed(const BlockRun& run) const {
        return blocks_.range(run.first, run.first + run.count);
    }

    /// Sends what was held after `before` arrivals, and gets as much from `distance` ahead.
    void exchange(int distance, int count, std::size_t before, bool last) {
        const int size = request_.size;
        const int behind = (request_.rank + size - distance) % size;
        const int ahead = (request_.rank + distance) % size;
        const auto after = Schedule::After(held_).first(before);
        if (count == 1) {
            steps_.send(behind, own_input(request_));
        } else if (last) {
            for (const BlockRun& run : runs_of(request_.rank, count, size)) {
                steps_.send(behind, staged(run.offset, run.count), after);
            }
        } else {
            steps_.send(behind, staged(0, count), after);
        }
        const std::vector<BlockRun> runs = runs_of(ahead, count, size);
        if (last) {
            for (const BlockRun& run : runs) steps_.receive(ahead, placed(run));
            return;
        }
        const StepId arrival[] = {steps_.receive(ahead, staged(distance, count))};
        for (const BlockRun& run : runs) {
            steps_.copy(staged(distance + run.offset, run.count), placed(run), arrival);
        }
        held_.push_back(arrival[0]);
    }

    const Request& request_;
    Blocks blocks_;
    Blocks ahead_;  ///< by their distance ahead of the own
    BlockSteps steps_;
    std::vector<StepId> held_;  ///< the steps that brought what is in the scratch memory
};

}  // namespace

static Schedule bruck(const Request& request) {
    return Bruck(request).run();
}

Algorithm bruck() {
    return {.collective = Collective::allgather,
            .name = "bruck",
            .summary = "all that is held comes from ranks ahead, at growing distances",
            .source = "Bruck et al. 1997, doi:10.1109/71.642949",
            .build = bruck, .radices = {2, 4, 8}, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
