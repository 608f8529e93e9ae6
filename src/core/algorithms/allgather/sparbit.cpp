// Every block goes down a binomial tree of its own, the longest distances first: while there are few blocks to send
// they go far, and the many of the last steps go to near ranks. Blocks are received where they belong, each in a
// message of its own, and go on as soon as they have come.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p - 1 messages a rank to ceil(log2 p) ranks; a port sends
// and receives (p - 1) n bytes, about half of them to and from a neighbour.
#include <bit>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

Schedule sparbit(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const auto behind = [&](int distance) { return blocks.block(rank_behind(request, distance)); };
    Dataflow flow;
    const auto rounded_up = static_cast<int>(std::bit_ceil(static_cast<unsigned>(request.size)));
    for (int hop = rounded_up / 2; hop > 0; hop /= 2) {
        for (int distance = 0; distance + hop < request.size; distance += 2 * hop) {
            flow.send((request.rank + hop) % request.size, distance == 0 ? own_input(request) : behind(distance));
            flow.receive(rank_behind(request, hop), behind(distance + hop));
        }
    }
    flow.copy(own_input(request), behind(0));
    return std::move(flow).take();
}

}  // namespace mutirao::allgather
