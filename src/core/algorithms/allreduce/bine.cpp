// The farthest partners come first, and are two thirds as far apart as in recursive doubling, so that fewer bytes
// leave a group of neighbours. The paper's form for long messages is `swing`.
//
// Cost, p ranks, n bytes: log2 p steps; each sends, receives and combines n bytes at every rank.
#include <bit>

#include "core/algorithms/bine_butterfly.h"
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

static Schedule bine(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int step = std::countr_zero(static_cast<unsigned>(request.size)) - 1; step >= 0; --step) {
        const int partner = bine_partner(request.rank, step, request.size);
        partial.send(partner);
        // Whose operand is the left one is for both to say alike, since results must be equal.
        const int peers[] = {partner};
        if (partner < request.rank) {
            partial.combine(peers, {});
        } else {
            partial.combine({}, peers);
        }
    }
    partial.settle();
    return std::move(flow).take();
}

Algorithm bine() {
    return {.collective = Collective::allreduce,
            .name = "bine",
            .summary = "as recursive_doubling, with partners that are less far apart",
            .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
            .build = bine, .fits = is_power_of_two};
}

}  // namespace mutirao::allreduce
