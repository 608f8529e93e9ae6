#include "core/algorithms/allgather/far_first.h"

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/far_first_trees.h"
#include "core/algorithms/packing.h"

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

}  // namespace

Schedule far_first(const Request& request, int most_blocks) {
    if (request.length_bytes == 0) return {};
    return FarFirst(request).run(most_blocks);
}

}  // namespace mutirao::allgather
