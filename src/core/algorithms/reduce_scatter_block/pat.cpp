// Partial results come up a binomial tree to every rank at once, the trees down which allgather/sparbit sends blocks:
// from near ranks first, when there are many, and from the farthest last. Those that go the same way are packed.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p); the step over distance d takes p / (2 d) blocks in
// messages of up to `radix`, so ceil(log2 p) messages a rank if p / 2 fit in one; (p - 1) n bytes through each
// port, which is the least possible, about half of them to and from a neighbour. Scratch for up to 2 p blocks.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::reduce_scatter_block {

namespace {

/// Hops of one step that can share a message: in the tree of the rank that is so far behind this one, each from this
/// rank to the one that is `distance` ahead.
struct TreeHops {
    int distance;
    std::vector<int> from;
};

/// In the order of the steps away from the roots, up to `most` hops together. A rank is a node of the tree of the rank
/// d behind it with the hops of all steps shorter than the lowest bit of d.
std::vector<TreeHops> far_first_hops(int size, int most) {
    std::vector<TreeHops> steps;
    const auto rounded_up = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)));
    for (int distance = rounded_up / 2; distance > 0; distance /= 2) {
        for (int from = 0; from + distance < size; from += 2 * distance) {
            const bool together = from > 0 && steps.back().from.size() <
                                                  static_cast<std::size_t>(most);
            if (!together) steps.push_back({distance, {}});
            steps.back().from.push_back(from);
        }
    }
    return steps;
}

class TowardsRoots {
  public:
    explicit TowardsRoots(const Request& request)
        : request_(request), packing_(flow_, request.length_bytes) {
        for (int distance = 0; distance < request.size; ++distance) {
            partials_.push_back(nth_block(Buffer::input, rank_behind(request, distance),
                                          request.length_bytes));
        }
    }

    Schedule run() && {
        const Region result{Buffer::output, 0, request_.length_bytes};
        flow_.copy(partial(0), result);
        partial(0) = result;
        std::vector<TreeHops> steps = far_first_hops(request_.size, request_.parameters.radix);
        std::reverse(steps.begin(), steps.end());
        for (const TreeHops& hops : steps) {
            send(hops);
            receive(hops);
        }
        return std::move(flow_).take();
    }

  private:
    /// In the tree of the rank that is so far behind: where it lies now.
    Region& partial(int distance) { return partials_[static_cast<std::size_t>(distance)]; }

    void send(const TreeHops& hops) {
        std::vector<Region> blocks;
        for (const int root : hops.from) blocks.push_back(partial(root + hops.distance));
        flow_.send(rank_behind(request_, hops.distance), packing_.packed(blocks));
    }

    void receive(const TreeHops& hops) {
        const Region message = packing_.room(hops.from.size());
        flow_.receive((request_.rank + hops.distance) % request_.size, message);
        for (std::size_t i = 0; i < hops.from.size(); ++i) {
            combine(packing_.block(message, i), partial(hops.from[i]));
        }
    }

    /// Where the own operand is all so far, the message becomes the partial result.
    void combine(Region arrived, Region& partial) {
        if (partial.buffer != Buffer::input) {
            flow_.reduce(arrived, partial);
            return;
        }
        flow_.reduce(partial, arrived);
        partial = arrived;
    }

    const Request& request_;
    Dataflow flow_;
    Packing packing_;
    std::vector<Region> partials_;
};

}  // namespace

static Schedule pat(const Request& request) {
    if (request.length_bytes == 0) return {};
    return TowardsRoots(request).run();
}

Algorithm pat() {
    return {.name = "pat",
            .summary = "up a tree to every rank, with up to `radix` partial results in a message",
            .source = "Jeaugey 2025, arXiv:2506.20252",
            .build = pat, .radices = {4, 16, 64}};
}

}  // namespace mutirao::reduce_scatter_block
