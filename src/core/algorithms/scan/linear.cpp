// Each rank adds its operand to what comes from the rank before and passes it on; in segments, a
// pipeline (the linear scan of MPI libraries; Sanders and Traeff 2006, doi:10.1007/11846802_15).
//
// Cost, p ranks, n bytes in s segments: depth p - 1; p + s - 2 steps of n / s bytes; a rank sends,
// receives and combines n bytes. No restrictions. Operands stay in order.
#include <algorithm>

#include "core/algorithms/reduction.h"

namespace mutirao::scan {

Schedule linear(const Request& request) {
    Dataflow flow;
    const Region all{Buffer::input, 0, request.length_bytes};
    const auto before = ranks_from(std::max(request.rank - 1, 0), request.rank);
    for (const Region& segment :
         segments_of(all, request.parameters.segment_bytes, request.unit_bytes)) {
        Partial part = whole_message(flow, request, true);
        part.narrow(segment);
        part.combine(before, {});
        if (request.rank + 1 < request.size) part.send(request.rank + 1);
        part.settle();
    }
    return std::move(flow).take();
}

}  // namespace mutirao::scan
