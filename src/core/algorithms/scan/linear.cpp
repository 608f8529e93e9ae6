// The linear scan of MPI libraries, a pipeline in segments.
//
// Cost, p ranks, n bytes in s segments: depth p - 1; p + s - 2 steps of n / s bytes; a rank sends, receives and
// combines n bytes.
#include <algorithm>

#include "core/algorithms/reduction.h"

namespace mutirao {

static Schedule linear_scan(const Request& request) {
    Dataflow flow;
    const auto before = ranks_from(std::max(request.rank - 1, 0), request.rank);
    for (Partial& part : parts_of(request, whole_message(flow, request, true))) {
        part.combine(before, {});
        if (request.rank + 1 < request.size) part.send(request.rank + 1);
        part.settle();
    }
    return std::move(flow).take();
}

/// What comes from the rank before is the result; with a rank's own operand added it goes on to the next.
static Schedule linear_exscan(const Request& request) {
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

static Algorithm linear_row(Collective collective, Schedule (*build)(const Request&)) {
    return {.collective = collective,
            .name = "linear",
            .summary = "each rank adds its operand and passes it on: a pipeline",
            .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = build, .segmented = true, .keeps_order = true, .from_first = true};
}

namespace scan { Algorithm linear() { return linear_row(Collective::scan, linear_scan); } }
namespace exscan { Algorithm linear() { return linear_row(Collective::exscan, linear_exscan); } }

}  // namespace mutirao
