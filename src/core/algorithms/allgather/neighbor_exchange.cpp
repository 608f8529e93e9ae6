// Each rank exchanges with its two neighbours in turn: first the own block, then in each step the two blocks that
// came in the step before.
//
// Cost, p ranks, blocks of n bytes: p / 2 steps and messages a rank, all between neighbours; a port sends and
// receives (p - 1) n bytes. Half of the ring's steps.
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

static Schedule neighbor_exchange(const Request& request) {
    const Blocks blocks = blocks_of(request);
    BlockSteps steps;
    const int pairs = request.size / 2;
    const bool even = request.rank % 2 == 0;
    const int side = even ? 1 : -1;
    const int partner = request.rank + side;
    const int other = (request.rank - side + request.size) % request.size;

    std::vector<StepId> last{steps.copy(own_input(request), blocks.block(request.rank))};
    if (pairs > 0) {
        steps.send(partner, own_input(request));
        last.push_back(steps.receive(partner, blocks.block(partner)));
    }
    int held = request.rank / 2;  // the pair of ranks whose blocks came last
    for (int step = 1; step < pairs; ++step) {
        const int distance = (step + 1) / 2;
        const bool from_other = step % 2 == 1;
        const int peer = from_other ? other : partner;
        const int sign = from_other ? -side : side;
        const int pair = (request.rank / 2 + sign * distance + pairs) % pairs;
        steps.send(peer, blocks.range(2 * held, 2 * held + 2), last);
        last.assign(1, steps.receive(peer, blocks.range(2 * pair, 2 * pair + 2)));
        held = pair;
    }
    return std::move(steps).take();
}

Algorithm neighbor_exchange() {
    return {.collective = Collective::allgather,
            .name = "neighbor_exchange",
            .summary = "two blocks at a time between neighbours, in turn",
            .source = "Chen et al. 2005, doi:10.1109/HPCASIA.2005.79",
            .build = neighbor_exchange, .fits = [](int size) { return size % 2 == 0; },
            .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
