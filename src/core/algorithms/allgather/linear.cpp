// Every rank sends its block to every other at once: the spread-out exchange of Bruck, Ho, Kipnis,
// Upfal and Weathersby 1997 (doi:10.1109/71.642949) in one round, each rank beginning with the
// next so that they do not all begin with the same.
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages a rank; a port sends and receives
// (p - 1) n bytes. Each latency is passed once and all together. No restrictions.
#include "core/algorithms/block_steps.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

Schedule linear(const Request& request) {
    const Blocks blocks = blocks_of(request);
    BlockSteps steps;
    for (int distance = 1; distance < request.size; ++distance) {
        const int from = (request.rank + request.size - distance) % request.size;
        steps.send((request.rank + distance) % request.size, own_input(request));
        steps.receive(from, blocks.block(from));
    }
    steps.copy(own_input(request), blocks.block(request.rank));
    return std::move(steps).take();
}

}  // namespace mutirao::allgather
