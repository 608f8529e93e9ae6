// As Rabenseifner's, but with partners at distance 1, -1, 3, -5, 11 .., so that in a ring or torus fewer messages
// share a link.
//
// The blocks that two partners split are not neighbours in the message. Every rank therefore copies them once into
// an order of its own, in which what it keeps always stands before what it sends, and back at the end.
//
// Cost, p ranks, n bytes: 2 log2 p steps, 2 n (p - 1) / p bytes through each port, which is the least possible,
// and 2 n bytes copied. Empty blocks are not sent.
#include "core/algorithms/bine_butterfly.h"
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

static Schedule swing(const Request& request) {
    Dataflow flow;
    if (request.size == 1) {
        whole_message(flow, request, true).settle();
        return std::move(flow).take();
    }
    const BineOrder order(request.rank, request.size,
                          Blocks(request.length_bytes, request.size, request.unit_bytes));
    for (int i = 0; i < order.size(); ++i) {
        flow.copy(part_in(Buffer::input, order.placed(i)), order.packed(i));
    }
    for (int step = 0; step < order.steps(); ++step) {
        const int partner = bine_partner(request.rank, step, request.size);
        const Region kept = order.kept(step);
        // Nothing else is in the output before the end.
        const Region arriving = part_in(Buffer::output, kept);
        flow.send(partner, order.given(step));
        flow.receive(partner, arriving);
        flow.reduce(arriving, kept);
    }
    for (int step = order.steps() - 1; step >= 0; --step) {
        const int partner = bine_partner(request.rank, step, request.size);
        flow.send(partner, order.kept(step));
        flow.receive(partner, order.given(step));
    }
    for (int i = 0; i < order.size(); ++i) flow.copy(order.packed(i), order.placed(i));
    return std::move(flow).take();
}

Algorithm swing() {
    return {.collective = Collective::allreduce,
            .name = "swing",
            .summary = "halving and doubling with partners that swing around a ring or torus",
            .source = "De Sensi et al. 2024, arXiv:2401.09356",
            .build = swing, .fits = is_power_of_two};
}

}  // namespace mutirao::allreduce
