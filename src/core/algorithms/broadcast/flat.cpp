// The linear broadcast of every early MPI library, and the inner part of MagPIe's between sites.
//
// Cost, p ranks, n bytes: depth 1; p - 1 messages and (p - 1) n bytes leave the root. Best where latencies are
// long and uneven, and the message small. Never segmented, since nobody could use a segment before the whole.
#include "core/algorithms/trees.h"

namespace mutirao::broadcast {

static Schedule flat(const Request& request) {
    TreePlace place;
    if (request.rank != request.root) {
        place.parent = 0;
    } else {
        for (int child = 1; child < request.size; ++child) place.children.push_back(child);
    }
    return over_virtual_tree(request, place);
}

Algorithm flat() {
    return {.name = "flat",
            .summary = "the root sends to every rank itself",
            .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
            .build = flat, .level = Level::hosts, .inside_a_host = true};
}

}  // namespace mutirao::broadcast
