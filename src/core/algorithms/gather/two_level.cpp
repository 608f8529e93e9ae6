// The ranks of the root's host share out the other hosts and hand on to the root what comes. In the paper the root
// takes all in itself; sharing as in alltoall/two_level.
//
// Cost, H hosts of m ranks, blocks of n bytes: depth 3; one message over the network from each host, of m n bytes,
// of which a rank of the root's host takes (H - 1) / m; inside the root's host as many to the root. A block is
// moved up to three times, so it is for short blocks. Scratch for m blocks in each host, in the root's for
// (H - 1) / m times as many. Blocks must be equal: ranks on the way know no others' lengths.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/over_placement.h"

namespace mutirao::gather {

namespace {

void collect(Dataflow& flow, Packing& packing, const Request& request, const ThroughHosts& through,
             std::span<const int> ranks, int host) {
    const Region own = own_input(request);
    if (ranks.size() == 1) {
        flow.send(through.gate(host), own);
        return;
    }
    const Region all = packing.room(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const Region place = packing.block(all, i);
        ranks[i] == request.rank ? flow.copy(own, place) : flow.receive(ranks[i], place);
    }
    flow.send(through.gate(host), all);
}

void take_all(Dataflow& flow, Packing& packing, const Request& request, const ThroughHosts& through,
              std::span<const int> beside) {
    for (const int rank : beside) {
        const Region place = nth_block(Buffer::output, rank, request.length_bytes);
        rank == request.rank ? flow.copy(own_input(request), place) : flow.receive(rank, place);
    }
    for (const int host : through.other_hosts()) {
        packing.receive(through.root_peer(host), through.blocks(host, Buffer::output));
    }
}

}  // namespace

static Schedule two_level(const Request& request) {
    if (request.length_bytes == 0) return {};
    const ThroughHosts through(request);
    const Placement& placement = *request.placement;
    const int host = placement.host_of(request.rank);
    const auto beside = placement.ranks_of(host);
    Dataflow flow;
    Packing packing(flow, request.length_bytes);
    if (request.rank == request.root) {
        take_all(flow, packing, request, through, beside);
    } else if (request.rank == through.leader(host)) {
        collect(flow, packing, request, through, beside, host);
    } else {
        flow.send(through.leader(host), own_input(request));
        for (const int other : through.passed_on_by(request.rank)) {
            const Region all = packing.room(placement.ranks_of(other).size());
            flow.receive(through.leader(other), all);
            flow.send(request.root, all);
        }
    }
    return std::move(flow).take();
}

Algorithm two_level() {
    return {.collective = Collective::gather,
            .name = "two_level",
            .summary = "each host's blocks in one message, which the root's neighbours take in turn",
            .source = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
            .build = two_level};
}

}  // namespace mutirao::gather
