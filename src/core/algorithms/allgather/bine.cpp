// Recursive doubling over the Bine butterfly: while there are few blocks they go far, two thirds as far as in
// recursive doubling, and the many of the last step go to a neighbour. What is held are no neighbouring blocks, so
// they are staged in scratch memory in an order of the rank's own, and copied to their places as they come.
//
// Cost, p ranks, blocks of n bytes: log2 p steps and messages a rank; a port sends and receives (p - 1) n bytes; p
// n bytes copied, and scratch for as many.
#include "core/algorithms/bine_butterfly.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

static Schedule bine(const Request& request) {
    const BineOrder order(request.rank, request.size, blocks_of(request));
    Dataflow flow;
    flow.copy(own_input(request), order.placed(0));
    if (order.size() > 1) flow.copy(own_input(request), order.packed(0));
    for (int step = order.steps() - 1; step >= 0; --step) {
        const int partner = bine_partner(request.rank, step, request.size);
        flow.send(partner, order.kept(step));
        flow.receive(partner, order.given(step));
        const int count = 1 << (order.steps() - 1 - step);
        for (int i = count; i < 2 * count; ++i) flow.copy(order.packed(i), order.placed(i));
    }
    return std::move(flow).take();
}

Algorithm bine() {
    return {.collective = Collective::allgather,
            .name = "bine",
            .summary = "pairs exchange all that they hold, far ones first, and less far apart",
            .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
            .build = bine, .fits = is_power_of_two, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
