// Where the number of ranks is no power of two, neighbours first combine their operands, and one of them acts for
// both.
//
// Cost, p ranks, n bytes: log2 p steps for a power of two and floor(log2 p) + 2 otherwise; each sends, receives
// and combines n bytes at every rank. The fewest steps; best for short messages.
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

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

}  // namespace mutirao::allreduce
