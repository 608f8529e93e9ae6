// Cost, p ranks, blocks of n bytes: p - 1 steps and messages a rank, all between neighbours; a port sends and
// receives (p - 1) n bytes. For long blocks.
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

static Schedule ring(const Request& request) {
    const Blocks blocks = blocks_of(request);
    BlockSteps steps;
    const int size = request.size;
    const int next = (request.rank + 1) % size;
    const int previous = (request.rank + size - 1) % size;
    if (size > 1) steps.send(next, own_input(request));
    for (int distance = 1; distance < size; ++distance) {
        const Region block = blocks.block((request.rank + size - distance) % size);
        const StepId arrival[] = {steps.receive(previous, block)};
        if (distance + 1 < size) steps.send(next, block, arrival);
    }
    steps.copy(own_input(request), blocks.block(request.rank));
    return std::move(steps).take();
}

Algorithm ring() {
    return {.collective = Collective::allgather,
            .name = "ring",
            .summary = "the blocks go round a ring",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = ring, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
