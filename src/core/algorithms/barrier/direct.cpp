// A dissemination of one round, the extreme of the paper's n-way dissemination. What is best where latencies are
// long and the ranks few, since every link is passed once and all at the same time.
//
// Cost, p ranks: depth 1, p - 1 messages a rank.
#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"

namespace mutirao::barrier {

static Schedule direct(const Request& request) {
    Schedule schedule;
    for (int distance = 1; distance < request.size; ++distance) {
        schedule.send((request.rank + distance) % request.size, signal);
        schedule.receive((request.rank + request.size - distance) % request.size, signal);
    }
    return schedule;
}

Algorithm direct() {
    return {.name = "direct",
            .summary = "every rank signals to every other at once",
            .source = "Hoefler, Mehlan, Mietke and Rehm 2006, 'Fast Barrier Synchronization for InfiniBand'",
            .build = direct};
}

}  // namespace mutirao::barrier
