// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages a rank; a port sends and receives (p - 1) n bytes.
// Each latency is passed once and all together, but many messages may meet at a port. In segments that are short enough
// to go without asking the receiver a block saves the two trips that this takes.
#include "core/algorithms/alltoall/rounds.h"

namespace mutirao::alltoall {

static Schedule linear(const Request& request) {
    return in_rounds(request, Partners::shifted, request.size);
}

Algorithm linear() {
    return {.name = "linear",
            .summary = "all blocks at once, beginning with the next rank",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = linear, .segmented = true, .blocks = InBlocks::own};
}

}  // namespace mutirao::alltoall
