// Each rank passes the message on to the next: with segments, the pipeline that moves a long
// message at the speed of one link (the chain of Pjesivac-Grbovic et al. 2007,
// doi:10.1007/s10586-007-0012-0, with one chain).
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank sends n bytes
// at most, and the last has the whole after p + s - 2 steps of n / s bytes. No restrictions.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule chain(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    TreePlace place{.parent = rank - 1, .children = {}};
    if (rank + 1 < request.size) place.children.push_back(rank + 1);
    return over_virtual_tree(request, place);
}

}  // namespace mutirao::broadcast
