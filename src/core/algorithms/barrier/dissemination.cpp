// Distances grow by the factor k a round; with k - 1 messages a round it is the n-way dissemination of Hoefler,
// Mehlan, Mietke and Rehm 2006, "Fast Barrier Synchronization for InfiniBand".
//
// Cost, p ranks, radix k: ceil(log_k p) rounds, up to (k - 1) ceil(log_k p) messages a rank.
#include "core/algorithms/algorithm.h"
#include "core/algorithms/barrier/signal_rounds.h"

namespace mutirao::barrier {

static Schedule dissemination(const Request& request) {
    SignalRounds rounds;
    rounds.disseminate(request.size, request.rank, request.parameters.radix, [](int rank) { return rank; });
    return std::move(rounds).take();
}

Algorithm dissemination() {
    return {.collective = Collective::barrier,
            .name = "dissemination",
            .summary = "signals ahead at growing distances",
            .source = "Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320",
            .build = dissemination, .radices = {2, 4, 8}};
}

}  // namespace mutirao::barrier
