// In every round a rank passes one segment on and receives another; CirculantRound says which.
//
// Cost, p ranks, n bytes in s segments: s - 1 + ceil(log2 p) rounds of n / s bytes, which is the least possible; a
// rank receives n bytes, and sends one segment a round at most.
#include "core/algorithms/circulant.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao::broadcast {

static Schedule circulant(const Request& request) {
    const Region whole{Buffer::output, 0, request.length_bytes};
    const auto segments = segments_of(whole, request.parameters.segment_bytes);
    const auto segment = [&](int number) { return segments[static_cast<std::size_t>(number)]; };
    Dataflow flow;
    for (const CirculantRound& round : circulant_rounds(request, segments.size())) {
        if (round.sent >= 0) flow.send(round.to, segment(round.sent));
        if (round.received >= 0) flow.receive(round.from, segment(round.received));
    }
    return std::move(flow).take();
}

Algorithm circulant() {
    return {.collective = Collective::broadcast,
            .name = "circulant",
            .summary = "a segment in and one out in each round, over skips that take turns",
            .source = "Traeff 2025, doi:10.1145/3735139",
            .build = circulant, .segmented = true, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
