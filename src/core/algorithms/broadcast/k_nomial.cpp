// A rank serves up to k - 1 children per digit of base k; what pays where starting a send is cheap beside a link's
// latency.
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; the root sends (k - 1) ceil(log_k p) n
// bytes. Radix 2 is the binomial tree.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule k_nomial(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(
        request, k_nomial_place(rank, request.size, request.parameters.radix));
}

Algorithm k_nomial() {
    return {.collective = Collective::broadcast,
            .name = "k_nomial",
            .summary = "k-nomial tree over the ranks: shallower, with busier ranks",
            .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = k_nomial, .segmented = true, .radices = {3, 4, 8}, .level = Level::hosts,
            .inside_a_host = true};
}

}  // namespace mutirao::broadcast
