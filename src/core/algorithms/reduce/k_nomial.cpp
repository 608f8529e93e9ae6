// Radices but 2: Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0. The ranks below a child follow its
// parent's in a row, so operands stay in order if they are counted from rank 0.
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; a rank receives and combines up to (k - 1)
// ceil(log_k p) n bytes. One more message of n bytes, from rank 0 to the root, where operands must stay in order.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

Schedule k_nomial(const Request& request) {
    return reduce_over_virtual_tree(request, [&](int rank) {
        return k_nomial_place(rank, request.size, request.parameters.radix);
    });
}

Algorithm k_nomial() {
    return {.collective = Collective::reduce,
            .name = "k_nomial",
            .summary = "k-nomial tree over the ranks, binomial for radix 2",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = k_nomial, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true};
}

}  // namespace mutirao::reduce
