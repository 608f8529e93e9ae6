// The paper's spread-out exchange in one round, each rank beginning with the next so that they do not all begin
// with the same.
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages a rank; a port sends and receives (p - 1) n bytes.
// Each latency is passed once and all together.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

static Schedule linear(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    for (int distance = 1; distance < request.size; ++distance) {
        const int from = (request.rank + request.size - distance) % request.size;
        flow.send((request.rank + distance) % request.size, own_input(request));
        flow.receive(from, blocks.block(from));
    }
    flow.copy(own_input(request), blocks.block(request.rank));
    return std::move(flow).take();
}

Algorithm linear() {
    return {.name = "linear",
            .summary = "every rank sends to every other at once",
            .source = "Bruck et al. 1997, doi:10.1109/71.642949",
            .build = linear, .blocks = InBlocks::uneven};
}

Algorithm two_proc() {
    return {.name = "two_proc",
            .summary = "a single exchange, which is linear between two",
            .source = "Open MPI; Bruck et al. 1997, doi:10.1109/71.642949",
            .build = linear, .fits = [](int size) { return size == 2; }, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
