// In step k every rank sends what it has to the rank 2^k further on, so that all hold twice as many operands; the
// second paper has it for MPI.
//
// Cost, p ranks, n bytes: ceil(log2 p) steps, in each of which a rank sends, receives and combines n bytes at
// most.
#include "core/algorithms/reduction.h"

namespace mutirao::scan {

Schedule recursive_doubling(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int distance = 1; distance < request.size; distance *= 2) {
        const int source = request.rank - distance;
        if (request.rank + distance < request.size) partial.send(request.rank + distance);
        if (source >= 0) partial.combine(std::span(&source, 1), {});
    }
    partial.settle();
    return std::move(flow).take();
}

Algorithm recursive_doubling() {
    return {.collective = Collective::scan,
            .name = "recursive_doubling",
            .summary = "every rank sends on what it has, at doubling distances",
            .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = recursive_doubling, .keeps_order = true};
}

}  // namespace mutirao::scan
