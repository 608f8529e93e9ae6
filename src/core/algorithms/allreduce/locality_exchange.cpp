// Each host reduces its operands to one; these go to all ranks by allgather/locality_bruck, and every rank
// combines them, in the same order. The paper's node-aware allreduce shares them out likewise, but reduces on the
// way; here a round may reach several hosts at once.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: ceil(log_((k-1)m+1) H) rounds over the network of up to
// k - 1 messages, ceil(log2 m) steps inside before, and as many messages inside as the allgather has; every rank
// combines H n bytes, so it is for short messages. Scratch for H + 1 messages.
#include <span>
#include <vector>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"

namespace mutirao {

namespace allgather {
Schedule locality_bruck(const Request& request);
}
namespace reduce {
Schedule k_nomial(const Request& request);
}

namespace allreduce {

namespace {

/// Of the blocks of an allgather to which only one rank of each host has something to give.
std::vector<std::size_t> lengths_of_leaders(const Placement& placement, std::size_t length_bytes) {
    std::vector<std::size_t> lengths(static_cast<std::size_t>(placement.rank_count()), 0);
    for (int host = 0; host < placement.host_count(); ++host) {
        lengths[static_cast<std::size_t>(placement.ranks_of(host).front())] = length_bytes;
    }
    return lengths;
}

/// The input's operands, one behind another.
Schedule combine(int count, std::size_t length_bytes) {
    Dataflow flow;
    const Region result{Buffer::output, 0, length_bytes};
    for (int i = 0; i < count; ++i) {
        const Region operand = nth_block(Buffer::input, i, length_bytes);
        i == 0 ? flow.copy(operand, result) : flow.reduce(operand, result);
    }
    return std::move(flow).take();
}

}  // namespace

static Schedule locality_exchange(const Request& request) {
    const Placement& placement = given_placement(request);
    const auto beside = placement.ranks_of(placement.host_of(request.rank));
    const int hosts = placement.host_count();
    const std::size_t length = request.length_bytes;
    const bool leads = beside.front() == request.rank;
    const Region of_host{Buffer::scratch, 0, length};
    const Region of_all{Buffer::scratch, aligned(length), length * static_cast<std::size_t>(hosts)};
    const auto itself = [](int rank) { return rank; };

    Schedule schedule;
    schedule.append(reduce::k_nomial({.rank = placement.position_of(request.rank),
                                      .size = static_cast<int>(beside.size()),
                                      .length_bytes = length,
                                      .unit_bytes = request.unit_bytes}),
                    [&](int position) { return beside[static_cast<std::size_t>(position)]; },
                    {.input = {Buffer::input, 0, length}, .output = of_host});
    const auto lengths = lengths_of_leaders(placement, length);
    schedule.append(allgather::locality_bruck({.rank = request.rank,
                                               .size = request.size,
                                               .length_bytes = length,
                                               .lengths = lengths,
                                               .parameters = request.parameters,
                                               .placement = &placement}),
                    itself, {.input = {Buffer::scratch, 0, leads ? length : 0}, .output = of_all});
    schedule.append(combine(hosts, length), itself,
                    {.input = of_all, .output = {Buffer::output, 0, length}});
    return schedule;
}

Algorithm locality_exchange() {
    return {.collective = Collective::allreduce,
            .name = "locality_exchange",
            .summary = "each host's sum to all ranks, by ranks of a host that share the work",
            .source = "after Bienz, Olson and Gropp 2019, arXiv:1910.09650",
            .build = locality_exchange, .radices = {2, 5}};
}

}  // namespace allreduce
}  // namespace mutirao
