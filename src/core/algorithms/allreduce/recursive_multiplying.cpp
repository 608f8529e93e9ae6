// Allreduces in rounds in which ranks exchange all that they have. Where the number of ranks does not suit,
// neighbours first combine their operands, and one of them acts for all.
#include <vector>

#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

// Cost, p ranks, n bytes: log2 p steps for a power of two and floor(log2 p) + 2 otherwise; each sends, receives
// and combines n bytes at every rank. The fewest steps; best for short messages.
static Schedule recursive_doubling(const Request& request) {
    std::vector<int> factors;
    for (int power = largest_power(2, request.size); power > 1; power /= 2) factors.push_back(2);
    return allreduce_in_rounds(request, factors);
}

Algorithm recursive_doubling() {
    return {.collective = Collective::allreduce,
            .name = "recursive_doubling",
            .summary = "partners exchange all that they have, at doubling distances",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = recursive_doubling, .keeps_order = true};
}

// Recursive doubling with a larger radix k takes fewer rounds of more messages, and pays where messages overtake
// latency.
//
// Cost, p ranks, n bytes: ceil(log_k p) rounds where p is a power of k, or one times a number below k; in each a
// rank sends, receives and combines up to (k - 1) n bytes. Two steps more for other p.
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
