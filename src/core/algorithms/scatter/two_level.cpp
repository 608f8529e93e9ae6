// The root hands each host's blocks to the ranks of its own host, which share out the other hosts, and there one
// rank hands them round: the counterpart of gather/two_level.
//
// Cost, H hosts of m ranks, blocks of n bytes: depth 3; one message over the network to each host, of m n bytes,
// of which a rank of the root's host sends (H - 1) / m; inside the root's host as many from the root. A block is
// moved up to three times, so it is for short blocks. Scratch for m blocks in each host, in the root's for
// (H - 1) / m times as many. Blocks must be equal: ranks on the way know no others' lengths.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/over_placement.h"

namespace mutirao::scatter {

namespace {

void hand_out_all(Dataflow& flow, Packing& packing, const Request& request, const ThroughHosts& through,
                  std::span<const int> beside, Region mine) {
    for (const int host : through.other_hosts()) {
        flow.send(through.root_peer(host), packing.packed(through.blocks(host, Buffer::input)));
    }
    for (const int rank : beside) {
        const Region block = nth_block(Buffer::input, rank, request.length_bytes);
        rank == request.rank ? flow.copy(block, mine) : flow.send(rank, block);
    }
}

void hand_round(Dataflow& flow, Packing& packing, const Request& request, int gate,
                std::span<const int> ranks, Region mine) {
    if (ranks.size() == 1) {
        flow.receive(gate, mine);
        return;
    }
    const Region all = packing.room(ranks.size());
    flow.receive(gate, all);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const Region block = packing.block(all, i);
        ranks[i] == request.rank ? flow.copy(block, mine) : flow.send(ranks[i], block);
    }
}

}  // namespace

static Schedule two_level(const Request& request) {
    if (request.length_bytes == 0) return {};
    const ThroughHosts through(request);
    const Placement& placement = *request.placement;
    const int host = placement.host_of(request.rank);
    const auto beside = placement.ranks_of(host);
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    Dataflow flow;
    Packing packing(flow, request.length_bytes);
    if (request.rank == request.root) {
        hand_out_all(flow, packing, request, through, beside, mine);
    } else if (request.rank == through.leader(host)) {
        hand_round(flow, packing, request, through.gate(host), beside, mine);
    } else {
        for (const int other : through.passed_on_by(request.rank)) {
            const Region all = packing.room(placement.ranks_of(other).size());
            flow.receive(request.root, all);
            flow.send(through.leader(other), all);
        }
        flow.receive(through.leader(host), mine);
    }
    return std::move(flow).take();
}

Algorithm two_level() {
    return {.collective = Collective::scatter,
            .name = "two_level",
            .summary = "each host's blocks in one message, which the root's neighbours send in turn",
            .source = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
            .build = two_level};
}

}  // namespace mutirao::scatter
