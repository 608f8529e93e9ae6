// A binomial tree from every rank at once, the longest distances first: while there are few blocks
// to send they go far, and the many of the last steps go to near ranks (Loch and Koslovski 2021,
// arXiv:2109.08751). Blocks are received where they belong, each in a message of its own, and go on
// as soon as they have come.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p - 1 messages a rank to ceil(log2 p)
// ranks; a port sends and receives (p - 1) n bytes, about half of them to and from a neighbour. No
// restrictions.
#include <bit>
#include <vector>

#include "core/algorithms/block_steps.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

Schedule sparbit(const Request& request) {
    const Blocks blocks = blocks_of(request);
    BlockSteps steps;
    const int size = request.size;
    const auto behind = [&](int distance) { return (request.rank + size - distance) % size; };
    const auto block = [&](int distance) { return blocks.block(behind(distance)); };
    // What has come of the rank that is so far behind. After the step of a distance these are
    // those of its multiples.
    std::vector<StepId> arrival(static_cast<std::size_t>(size), BlockSteps::none);
    const auto rounded_up = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)));
    for (int step = rounded_up / 2; step > 0; step /= 2) {
        for (int held = 0; held + step < size; held += 2 * step) {
            const int ahead = (request.rank + step) % size;
            const auto here = static_cast<std::size_t>(held);
            if (held == 0) {
                steps.send(ahead, own_input(request));
            } else {
                steps.send(ahead, block(held), Schedule::After(arrival).subspan(here, 1));
            }
            arrival[here + static_cast<std::size_t>(step)] =
                steps.receive(behind(step), block(held + step));
        }
    }
    steps.copy(own_input(request), blocks.block(request.rank));
    return std::move(steps).take();
}

}  // namespace mutirao::allgather
