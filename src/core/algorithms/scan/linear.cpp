// The linear scan of MPI libraries, a pipeline in segments.
//
// Cost, p ranks, n bytes in s segments: depth p - 1; p + s - 2 steps of n / s bytes; a rank sends, receives and
// combines n bytes.
#include <algorithm>

#include "core/algorithms/reduction.h"

namespace mutirao::scan {

static Schedule linear(const Request& request) {
    Dataflow flow;
    const auto before = ranks_from(std::max(request.rank - 1, 0), request.rank);
    for (Partial& part : parts_of(request, whole_message(flow, request, true))) {
        part.combine(before, {});
        if (request.rank + 1 < request.size) part.send(request.rank + 1);
        part.settle();
    }
    return std::move(flow).take();
}

Algorithm linear() {
    return {.collective = Collective::scan,
            .name = "linear",
            .summary = "each rank adds its operand and passes it on: a pipeline",
            .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = linear, .segmented = true, .keeps_order = true, .from_first = true};
}

}  // namespace mutirao::scan
