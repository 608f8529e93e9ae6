// Cost, p ranks, n bytes: one trip; up to p - 1 messages and (p - 1) n bytes leave and enter a rank. For few ranks
// and short messages over long latencies.
#include "core/algorithms/reduction.h"

namespace mutirao {

static Partial sent_to_all_after(Dataflow& flow, const Request& request) {
    Partial partial = whole_message(flow, request, true);
    for (int peer = request.rank + 1; peer < request.size; ++peer) partial.send(peer);
    return partial;
}

static Schedule direct_scan(const Request& request) {
    Dataflow flow;
    Partial partial = sent_to_all_after(flow, request);
    partial.combine(ranks_from(0, request.rank), {});
    partial.settle();
    return std::move(flow).take();
}

static Schedule direct_exscan(const Request& request) {
    Dataflow flow;
    sent_to_all_after(flow, request).replace(ranks_from(0, request.rank));
    return std::move(flow).take();
}

static Algorithm direct_row(Collective collective, Schedule (*build)(const Request&)) {
    return {.collective = collective,
            .name = "direct",
            .summary = "every rank sends to all ranks after it",
            .source = "all operands at once, as the collective is defined",
            .build = build, .keeps_order = true, .from_first = true};
}

namespace scan { Algorithm direct() { return direct_row(Collective::scan, direct_scan); } }
namespace exscan { Algorithm direct() { return direct_row(Collective::exscan, direct_exscan); } }

}  // namespace mutirao
