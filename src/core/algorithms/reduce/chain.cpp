// Each rank combines what comes from the next one and passes it on: with segments, the pipeline
// that moves a long message at the speed of one link (Pjesivac-Grbovic et al. 2007,
// doi:10.1007/s10586-007-0012-0).
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank receives,
// combines and sends n bytes at most; p + s - 2 steps of n / s bytes. One more, from rank 0 to the
// root, where operands must stay in order. No restrictions.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

Schedule chain(const Request& request) {
    return reduce_over_virtual_tree(request, [&](int rank) {
        TreePlace place{.parent = rank - 1, .children = {}};
        if (rank + 1 < request.size) place.children.push_back(rank + 1);
        return place;
    });
}

}  // namespace mutirao::reduce
