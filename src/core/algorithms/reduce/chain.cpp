// With segments, it moves a long message at the speed of one link.
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank receives, combines and sends n
// bytes at most; p + s - 2 steps of n / s bytes. One more, from rank 0 to the root, where operands must stay in
// order.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

static Schedule chain(const Request& request) {
    return reduce_over_virtual_tree(request, [&](int rank) {
        TreePlace place{.parent = rank - 1, .children = {}};
        if (rank + 1 < request.size) place.children.push_back(rank + 1);
        return place;
    });
}

Algorithm chain() {
    return {.collective = Collective::reduce,
            .name = "chain",
            .summary = "each rank adds its operand and passes it on: a pipeline",
            .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = chain, .segmented = true, .keeps_order = true};
}

}  // namespace mutirao::reduce
