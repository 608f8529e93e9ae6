// With segments, it moves a long message at the speed of one link (the paper's chain, with one chain).
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank sends n bytes at most, and the
// last has the whole after p + s - 2 steps of n / s bytes.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

static Schedule chain(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    TreePlace place{.parent = rank - 1, .children = {}};
    if (rank + 1 < request.size) place.children.push_back(rank + 1);
    return over_virtual_tree(request, place);
}

Algorithm chain() {
    return {.collective = Collective::broadcast,
            .name = "chain",
            .summary = "each rank passes the message on to the next: a pipeline",
            .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = chain, .segmented = true, .level = Level::hosts, .inside_a_host = true};
}

}  // namespace mutirao::broadcast
