// What comes from the rank before is the result; with a rank's own operand added it goes on to the next.
//
// Cost, p ranks, n bytes in s segments: depth p - 1; p + s - 2 steps of n / s bytes; a rank sends, receives and
// combines n bytes.
#include "core/algorithms/reduction.h"

namespace mutirao::exscan {

static Schedule linear(const Request& request) {
    Dataflow flow;
    const Region all{Buffer::input, 0, request.length_bytes};
    const bool is_last = request.rank + 1 == request.size;
    for (const Region& operand :
         segments_of(all, request.parameters.segment_bytes, request.unit_bytes)) {
        const Region result = part_in(Buffer::output, operand);
        const Region passed_on = part_in(Buffer::scratch, operand);
        if (request.rank == 0) {
            if (!is_last) flow.send(1, operand);
            continue;
        }
        // The copy is made while nothing has come yet.
        if (!is_last) flow.copy(operand, passed_on);
        flow.receive(request.rank - 1, result);
        if (is_last) continue;
        flow.reduce_before(result, passed_on);
        flow.send(request.rank + 1, passed_on);
    }
    return std::move(flow).take();
}

Algorithm linear() {
    return {.collective = Collective::exscan,
            .name = "linear",
            .summary = "each rank adds its operand and passes it on: a pipeline",
            .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = linear, .segmented = true, .keeps_order = true, .from_first = true};
}

}  // namespace mutirao::exscan
