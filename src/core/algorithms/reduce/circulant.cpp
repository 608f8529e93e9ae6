// Traeff's broadcast read from its end: what a rank received comes to be sent, once everything has come that it
// had passed on. CirculantRound says which segment that is.
//
// Cost, p ranks, n bytes in s segments: s - 1 + ceil(log2 p) rounds of n / s bytes, which is the least possible; a
// rank sends n bytes, and receives and combines one segment a round at most. Scratch for up to four times the
// message. The operator must commute: a segment comes up a tree of its own, whose ranks are in no order.
#include "core/algorithms/circulant.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {
namespace {

/// A rank has most of what it sends from the start. If it sent that at once, ports would be busy
/// with segments of late rounds while early ones wait: long messages would take twice as long.
constexpr std::size_t most_turns_ahead = 4;

}  // namespace

static Schedule circulant(const Request& request) {
    Dataflow flow;
    const bool is_root = request.rank == request.root;
    std::vector<Partial> parts = parts_of(request, whole_message(flow, request, is_root));
    const auto part = [&](int number) -> Partial& {
        return parts[static_cast<std::size_t>(number)];
    };
    const std::vector<CirculantRound> rounds = circulant_rounds(request, parts.size());
    const std::size_t turn = circulant_skips(request.size).size() - 1;
    const std::size_t window = most_turns_ahead * turn + 1;
    // The last receive before each round, from `window` rounds before the first one on.
    std::vector<StepId> received(window, Dataflow::no_id);
    for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
        const StepId awaited = received[received.size() - window];
        if (round->received >= 0) part(round->received).send(round->from, awaited);
        received.push_back(round->sent < 0
                               ? received.back()
                               : part(round->sent).combine({}, std::span(&round->to, 1)));
    }
    if (is_root) {
        for (Partial& each : parts) each.settle();
    }
    return std::move(flow).take();
}

Algorithm circulant() {
    return {.collective = Collective::reduce,
            .name = "circulant",
            .summary = "a segment in and one out in each round, over skips that take turns",
            .source = "Traeff 2024, arXiv:2407.18004",
            .build = circulant, .segmented = true};
}

}  // namespace mutirao::reduce
