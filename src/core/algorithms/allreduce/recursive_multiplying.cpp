// Allreduces in rounds in which ranks exchange all that they have. Where the number of ranks does not suit,
// neighbours first combine their operands, and one of them acts for all.
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

namespace {

/// In the round of each factor, that many leaders send their partial results to each other; the product of the
/// factors must be the number of groups. Operands stay in order.
void exchange_in_rounds(Partial& partial, const Groups& groups, int rank,
                        std::span<const int> factors) {
    const int group = groups.of(rank);
    int distance = 1;
    for (const int factor : factors) {
        const int own_digit = group / distance % factor;
        const int lowest = group - own_digit * distance;
        std::vector<int> peers;
        for (int digit = 0; digit < factor; ++digit) {
            peers.push_back(groups.leader(lowest + digit * distance));
        }
        // Everybody begins with another, so that nobody is addressed by all at once.
        for (int step = 1; step < factor; ++step) {
            partial.send(peers[static_cast<std::size_t>((own_digit + step) % factor)]);
        }
        const auto before = static_cast<std::size_t>(own_digit);
        partial.combine(std::span(peers).first(before), std::span(peers).subspan(before + 1));
        distance *= factor;
    }
}

/// Folding, an exchange in rounds, and the result for the folded ranks.
Schedule allreduce_in_rounds(const Request& request, std::span<const int> factors) {
    const int count = std::accumulate(factors.begin(), factors.end(), 1, std::multiplies<>());
    const Groups groups(request.size, count);
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    groups.fold(partial, request.rank);
    if (groups.leads(request.rank)) {
        exchange_in_rounds(partial, groups, request.rank, factors);
        partial.settle();
    }
    groups.unfold(flow, partial.home(), request.rank);
    return std::move(flow).take();
}

}  // namespace

// Radix 2 is recursive doubling, of the fewest steps of one message: best for short messages. A larger radix k takes
// fewer rounds of more messages, and pays where messages overtake latency.
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

}  // namespace mutirao::allreduce
