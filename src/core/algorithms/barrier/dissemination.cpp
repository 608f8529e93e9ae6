// Each rank signals to ranks ahead of it at distances that grow by the factor k a round, and hears
// from those behind (Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320; with k - 1 messages a
// round it is the n-way dissemination of Hoefler, Mehlan, Mietke and Rehm 2006, "Fast Barrier
// Synchronization for InfiniBand").
//
// Cost, p ranks, radix k: ceil(log_k p) rounds, up to (k - 1) ceil(log_k p) messages a rank. No
// restrictions.
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/signal.h"

namespace mutirao::barrier {

Schedule dissemination(const Request& request) {
    Schedule schedule;
    const long long size = request.size;
    const long long radix = request.parameters.radix;
    // A signal may overtake one of an earlier round, so a round comes after all before it.
    std::vector<StepId> heard;
    for (long long weight = 1; weight < size; weight *= radix) {
        const std::size_t before = heard.size();
        for (long long distance = weight; distance < size && distance < radix * weight;
             distance += weight) {
            const auto ahead = static_cast<int>((request.rank + distance) % size);
            const auto behind = static_cast<int>((request.rank + size - distance) % size);
            schedule.send(ahead, signal, Schedule::After(heard).first(before));
            heard.push_back(schedule.receive(behind, signal));
        }
    }
    return schedule;
}

}  // namespace mutirao::barrier
