// A binomial tree for every rank, the same for all but that it is turned round: blocks go down all of them at once, or
// partial results up.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao {
namespace {

/// In the tree of the rank that is `from` behind, from there to the rank that is `distance` ahead.
struct TreeHop {
    int distance, from;
};

/// The longest distances first. A rank is a node of the tree of the rank d behind it with the hops of all steps shorter
/// than the lowest bit of d.
std::vector<TreeHop> far_first_hops(int size) {
    std::vector<TreeHop> hops;
    const auto rounded_up = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)));
    for (int distance = rounded_up / 2; distance > 0; distance /= 2) {
        for (int from = 0; from + distance < size; from += 2 * distance) hops.push_back({distance, from});
    }
    return hops;
}

// Every block goes down a binomial tree of its own, the longest distances first: while there are few blocks to send
// they go far, and the many of the last steps go to near ranks. Blocks are received where they belong, each in a
// message of its own, and go on as soon as they have come.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p - 1 messages a rank to ceil(log2 p) ranks; a port sends
// and receives (p - 1) n bytes, about half of them to and from a neighbour.
Schedule allgather_sparbit(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const auto behind = [&](int distance) { return blocks.block(rank_behind(request, distance)); };
    Dataflow flow;
    for (const auto& [distance, from] : far_first_hops(request.size)) {
        flow.send((request.rank + distance) % request.size, from == 0 ? own_input(request) : behind(from));
        flow.receive(rank_behind(request, distance), behind(from + distance));
    }
    flow.copy(own_input(request), behind(0));
    return std::move(flow).take();
}

/// Hops of one step that can share a message: in the tree of the rank that is so far behind this one, each from this
/// rank to the one that is `distance` ahead.
struct TreeHops {
    int distance;
    std::vector<int> from;
};

/// In the order of the steps towards the roots, up to `most` hops together.
std::vector<TreeHops> near_first_hops(int size, int most) {
    std::vector<TreeHops> steps;
    for (const auto& [distance, from] : far_first_hops(size)) {
        const bool together = from > 0 && steps.back().from.size() < static_cast<std::size_t>(most);
        if (!together) steps.push_back({distance, {}});
        steps.back().from.push_back(from);
    }
    std::ranges::reverse(steps);
    return steps;
}

// Partial results come up a binomial tree to every rank at once, the trees down which allgather/sparbit sends blocks:
// from near ranks first, when there are many, and from the farthest last. Those that go the same way are packed.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p); the step over distance d takes p / (2 d) blocks in
// messages of up to `radix`, so ceil(log2 p) messages a rank if p / 2 fit in one; (p - 1) n bytes through each
// port, which is the least possible, about half of them to and from a neighbour. Scratch for up to 2 p blocks.
Schedule reduce_scatter_block_pat(const Request& request) {
    if (request.length_bytes == 0) return {};
    // Where the partial result lies that is in the tree of the rank that is so far behind.
    std::vector<Region> partials;
    for (int distance = 0; distance < request.size; ++distance)
        partials.push_back(nth_block(Buffer::input, rank_behind(request, distance), request.length_bytes));
    const auto partial = [&](int distance) -> Region& { return partials[static_cast<std::size_t>(distance)]; };

    Dataflow flow;
    Packing packing(flow, request.length_bytes);
    const Region result{Buffer::output, 0, request.length_bytes};
    flow.copy(partial(0), result);
    partial(0) = result;
    for (const TreeHops& hops : near_first_hops(request.size, request.parameters.radix)) {
        std::vector<Region> blocks;
        for (const int root : hops.from) blocks.push_back(partial(root + hops.distance));
        flow.send(rank_behind(request, hops.distance), packing.packed(blocks));
        const Region message = packing.room(hops.from.size());
        flow.receive((request.rank + hops.distance) % request.size, message);
        for (std::size_t i = 0; i < hops.from.size(); ++i) {
            const Region arrived = packing.block(message, i);
            Region& here = partial(hops.from[i]);
            if (here.buffer != Buffer::input) {
                flow.reduce(arrived, here);
            } else {  // the own operand is all so far: the message becomes the partial result
                flow.reduce(here, arrived);
                here = arrived;
            }
        }
    }
    return std::move(flow).take();
}

}  // namespace

std::vector<Algorithm> tree_of_each_rank_rows() {
    using enum Collective;
    return {
        {.collective = allgather, .name = "sparbit", .summary = "far ranks first, so that most blocks go to near ones",
         .source = "Loch and Koslovski 2021, arXiv:2109.08751",
         .build = allgather_sparbit, .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "pat",
         .summary = "up a tree to every rank, with up to `radix` partial results in a message",
         .source = "Jeaugey 2025, arXiv:2506.20252",
         .build = reduce_scatter_block_pat, .radices = {4, 16, 64}},
    };
}

}  // namespace mutirao
