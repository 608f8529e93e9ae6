// Reduced to rank 0 over the k-nomial tree, and broadcast over the same tree (reduce and then
// broadcast, as Chan, Heimlich, Purkayastha and van de Geijn 2007, doi:10.1002/cpe.1206, put
// together their allreduce of short vectors). A segment goes down as soon as it is reduced, while
// later ones still come up.
//
// Cost, p ranks, n bytes, radix k: depth 2 ceil(log_k p); 2 (p - 1) messages of n bytes in all,
// fewer than of any exchange in which all ranks send. No restrictions. Operands stay in order.
#include "core/algorithms/algorithm.h"

namespace mutirao::reduce {

Schedule k_nomial(const Request& request);

}  // namespace mutirao::reduce

namespace mutirao::broadcast {

Schedule k_nomial(const Request& request);

}  // namespace mutirao::broadcast

namespace mutirao::allreduce {

Schedule reduce_broadcast(const Request& request) {
    Schedule schedule = reduce::k_nomial(request);
    schedule.append(broadcast::k_nomial(request), [](int rank) { return rank; });
    return schedule;
}

}  // namespace mutirao::allreduce
