// Prefix sums by shares: every rank combines a share of all operands from rank 0 on, and each rank gets from it what
// has come together before it, or with it: reduce-scatter and allgather in a single step each, as
// allreduce/direct_shares has them, but for what is handed out.
//
// Cost, p ranks, n bytes: two trips; up to 2 (p - 1) messages and 2 n (p - 1) / p bytes leave and enter each rank,
// which combines n bytes; recursive doubling sends n bytes ceil(log2 p) times, in as many trips. No link carries more
// than 2 n / p bytes. Scratch for n bytes. For messages that are worth p shares, over long latencies.
#include <string_view>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"

namespace mutirao {
namespace {

/// Nobody needs the last operand where prefixes leave the own one out, and rank 0 needs nobody's.
Schedule prefix_shares(const Request& request, OwnOperand own) {
    const bool included = own == OwnOperand::included;
    const int me = request.rank;
    const Blocks shares(request.length_bytes, request.size, request.unit_bytes);
    const Region operand = shares.block(me, Buffer::input), result = shares.block(me);
    Dataflow flow;
    Packing packing(flow, 1);
    const auto gives = [&](int rank) { return included || rank + 1 < request.size; };
    const auto hand_out = [&](Region prefix, int rank) {
        if (rank == 0) return;
        if (rank != me) flow.send(rank, prefix);
        else if (prefix != result) flow.copy(prefix, result);
    };
    for (const int rank : others_of(me, gives(me) ? request.size : 0)) flow.send(rank, shares.block(rank, Buffer::input));
    Region prefix{};
    for (int rank = 0; rank < request.size; ++rank) {
        if (!included) hand_out(prefix, rank);
        if (!gives(rank)) break;
        Region place = rank == me && included ? result : packing.room(operand.length_bytes);
        if (rank == me && rank == 0) place = operand;
        else if (rank == me) flow.copy(operand, place);
        else flow.receive(rank, place);
        if (rank > 0) flow.reduce_before(prefix, place);
        prefix = place;
        if (included) hand_out(prefix, rank);
    }
    if (me == 0 && included) flow.copy(own_input(request), {Buffer::output, 0, request.length_bytes});
    for (int peer = 0; me > 0 && peer < request.size; ++peer) {
        if (peer != me) flow.receive(peer, shares.block(peer));
    }
    return std::move(flow).take();
}

Algorithm in_shares(Collective collective, std::string_view name, std::string_view summary,
                    Schedule (*build)(const Request&)) {
    return {.collective = collective,
            .name = name,
            .summary = summary,
            .source = "after Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = build, .keeps_order = true, .from_first = true};
}

}  // namespace

namespace scan {

Algorithm direct_shares() {
    return in_shares(Collective::scan, "direct_shares", "every rank adds up a share and sends each rank its prefix",
                     [](const Request& request) { return prefix_shares(request, OwnOperand::included); });
}

}  // namespace scan

namespace exscan {

Algorithm direct_shares() {
    return in_shares(Collective::exscan, "direct_shares", "the same of what comes before each rank",
                     [](const Request& request) { return prefix_shares(request, OwnOperand::left_out); });
}

}  // namespace exscan

}  // namespace mutirao
