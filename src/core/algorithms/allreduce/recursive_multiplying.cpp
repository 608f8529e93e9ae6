// Recursive doubling with a larger radix k takes fewer rounds of more messages, and pays where messages overtake
// latency.
//
// Cost, p ranks, n bytes: ceil(log_k p) rounds where p is a power of k, or one times a number below k; in each a
// rank sends, receives and combines up to (k - 1) n bytes. For other p neighbours first combine their operands and
// one acts for all, which takes two steps more.
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

Schedule recursive_multiplying(const Request& request) {
    const int radix = request.parameters.radix;
    const int power = largest_power(radix, request.size);
    std::vector<int> factors;
    for (int rest = power; rest > 1; rest /= radix) factors.push_back(radix);
    if (request.size / power > 1) factors.push_back(request.size / power);
    return allreduce_in_rounds(request, factors);
}

Algorithm recursive_multiplying() {
    return {.collective = Collective::allreduce,
            .name = "recursive_multiplying",
            .summary = "k ranks at a time exchange all that they have",
            .source = "Ruefenacht, Bull and Booth 2017, doi:10.1016/j.parco.2017.08.004",
            .build = recursive_multiplying, .radices = {3, 4, 8}, .keeps_order = true};
}

}  // namespace mutirao::allreduce
