// In a round each of a host's ranks signals to a host at a distance of its own, and then they tell each other,
// inside the host, whom they heard of. So one round over the network reaches as many hosts as a host has ranks,
// where in one of `dissemination` a rank sends all these signals itself. As allgather/locality_bruck, of blocks
// without bytes; the smallest host says how many ranks of each take part.
//
// Cost, H hosts of at least m ranks, radix k: ceil(log_((k-1)m+1) H) rounds over the network of k - 1 messages a
// rank, one round more inside, each of ceil(log_k m) messages one after the other.
#include <algorithm>

#include "core/algorithms/barrier/signal_rounds.h"
#include "core/algorithms/over_placement.h"

namespace mutirao::barrier {

static Schedule locality_dissemination(const Request& request) {
    const Placement& placement = given_placement(request);
    const int hosts = placement.host_count();
    const int host = placement.host_of(request.rank);
    const int position = placement.position_of(request.rank);
    const auto here = placement.ranks_of(host);
    int working = request.size;
    for (int each = 0; each < hosts; ++each) {
        working = std::min(working, static_cast<int>(placement.ranks_of(each).size()));
    }
    const auto counterpart = [&](long long its_host) {
        return placement.ranks_of(static_cast<int>(its_host % hosts))[static_cast<std::size_t>(position)];
    };

    SignalRounds rounds;
    const auto tell_each_other = [&] {
        rounds.disseminate(static_cast<int>(here.size()), position, request.parameters.radix,
                           [&](int other) { return here[static_cast<std::size_t>(other)]; });
    };
    tell_each_other();
    const long long by_each = request.parameters.radix - 1;
    for (long long heard_of = 1; heard_of < hosts; heard_of *= working * by_each + 1) {
        rounds.begin_round();
        for (long long i = position * by_each; position < working && i < (position + 1) * by_each; ++i) {
            const long long distance = (i + 1) * heard_of;
            if (distance >= hosts) break;
            rounds.exchange(counterpart(host + hosts - distance), counterpart(host + distance));
        }
        tell_each_other();
    }
    return std::move(rounds).take();
}

Algorithm locality_dissemination() {
    return {.collective = Collective::barrier,
            .name = "locality_dissemination",
            .summary = "dissemination between hosts, whose ranks share the work",
            .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
            .build = locality_dissemination, .radices = {2, 5}};
}

}  // namespace mutirao::barrier
