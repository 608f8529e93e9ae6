// With MPICH's numbering: ranks relative to the root, the highest child first. The tree itself is that of Johnsson
// and Ho 1989, doi:10.1109/12.29465.
//
// Cost, p ranks, n bytes: depth ceil(log2 p), p - 1 messages; the root sends ceil(log2 p) n bytes. In s segments
// the depth is passed once and each further segment follows at the root's pace.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule binomial(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(request, k_nomial_place(rank, request.size, 2));
}

Algorithm binomial() {
    return {.collective = Collective::broadcast,
            .name = "binomial",
            .summary = "binomial tree over the ranks, as MPICH",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = binomial, .segmented = true, .level = Level::hosts, .inside_a_host = true};
}

}  // namespace mutirao::broadcast
