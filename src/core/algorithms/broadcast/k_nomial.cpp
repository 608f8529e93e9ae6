// The k-nomial tree: a rank serves up to k - 1 children per digit of base k, so the tree is
// shallower than a binomial one and its ranks busier; what pays where starting a send is cheap
// beside a link's latency (compared with others by Pjesivac-Grbovic et al. 2007,
// doi:10.1007/s10586-007-0012-0).
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; the root sends
// (k - 1) ceil(log_k p) n bytes. No restrictions; radix 2 is the binomial tree.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule k_nomial(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(
        request, k_nomial_place(rank, request.size, request.parameters.radix));
}

}  // namespace mutirao::broadcast
