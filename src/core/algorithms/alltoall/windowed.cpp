// As linear, but with at most `radix` ranks sent to and as many received from at a time, which bounds how many
// messages meet at a port, as in the throttled exchange that MPICH makes of its linear one.
//
// Cost, p ranks, blocks of n bytes, window w: about (p - 1) / w latencies in a row, p - 1 messages a rank; a port
// sends and receives (p - 1) n bytes. Window 1 is pairwise but for powers of two, a window of p - 1 linear.
#include "core/algorithms/alltoall/rounds.h"

namespace mutirao::alltoall {

static Schedule windowed(const Request& request) {
    return in_rounds(request, Partners::shifted, request.parameters.radix);
}

Algorithm windowed() {
    return {.collective = Collective::alltoall,
            .name = "windowed",
            .summary = "at most `radix` partners at a time",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = windowed, .radices = {4, 16, 32}, .blocks = InBlocks::own};
}

}  // namespace mutirao::alltoall
