// The paper puts its allreduce of short vectors together so. A segment goes down as soon as it is reduced, while
// later ones still come up.
//
// Cost, p ranks, n bytes, radix k: depth 2 ceil(log_k p); 2 (p - 1) messages of n bytes in all, fewer than of any
// exchange in which all ranks send.
#include "core/algorithms/algorithm.h"

namespace mutirao::reduce {

Schedule k_nomial(const Request& request);

}  // namespace mutirao::reduce

namespace mutirao::broadcast {

Schedule k_nomial(const Request& request);

}  // namespace mutirao::broadcast

namespace mutirao::allreduce {

static Schedule reduce_broadcast(const Request& request) {
    Schedule schedule = reduce::k_nomial(request);
    schedule.append(broadcast::k_nomial(request), [](int rank) { return rank; });
    return schedule;
}

Algorithm reduce_broadcast() {
    return {.collective = Collective::allreduce,
            .name = "reduce_broadcast",
            .summary = "up and down a k-nomial tree over the ranks",
            .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = reduce_broadcast, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true};
}

}  // namespace mutirao::allreduce
