// The distance-halving tree of the paper, whose ranks are numbered by negabinary numbers, so that fewer bytes
// leave a group of neighbours.
//
// Cost, p ranks, n bytes: as binomial, depth ceil(log2 p) at most, p - 1 messages; the root sends ceil(log2 p) n
// bytes.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

static Schedule bine(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(request, bine_place(rank, request.size));
}

Algorithm bine() {
    return {.collective = Collective::broadcast,
            .name = "bine",
            .summary = "a binomial tree whose messages go less far round the ranks",
            .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
            .build = bine, .segmented = true, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
