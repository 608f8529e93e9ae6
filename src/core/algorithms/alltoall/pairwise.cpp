// The two of a pair exchange their blocks where p is a power of two, otherwise each rank sends to one and receives
// from another.
//
// Cost, p ranks, blocks of n bytes: p - 1 rounds of one message a rank; a port sends and receives (p - 1) n bytes,
// never to or from two ranks at a time. For long blocks.
#include <bit>

#include "core/algorithms/alltoall/rounds.h"

namespace mutirao::alltoall {

static Schedule pairwise(const Request& request) {
    const bool pairs = std::has_single_bit(static_cast<unsigned>(request.size));
    return in_rounds(request, pairs ? Partners::paired : Partners::shifted, 1);
}

Algorithm pairwise() {
    return {.collective = Collective::alltoall,
            .name = "pairwise",
            .summary = "one partner at a time",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = pairwise, .blocks = InBlocks::own};
}

}  // namespace mutirao::alltoall
