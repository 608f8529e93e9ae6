// The distance-halving Bine tree (De Sensi et al. 2025, doi:10.1145/3712285.3759835): a binomial
// tree whose ranks are numbered by negabinary numbers, so that a message goes less far round the
// ranks, and fewer bytes leave a group of neighbours.
//
// Cost, p ranks, n bytes: as binomial, depth ceil(log2 p) at most, p - 1 messages; the root sends
// ceil(log2 p) n bytes. No restrictions.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule bine(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(request, bine_place(rank, request.size));
}

}  // namespace mutirao::broadcast
