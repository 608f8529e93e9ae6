// Every rank signals to every other at once: a dissemination of one round. What is best where
// latencies are long and the ranks few, since every link is passed once and all at the same time
// (the extreme of the n-way dissemination of Hoefler, Mehlan, Mietke and Rehm 2006, "Fast Barrier
// Synchronization for InfiniBand").
//
// Cost, p ranks: depth 1, p - 1 messages a rank. No restrictions.
#include "core/algorithms/algorithm.h"
#include "core/algorithms/signal.h"

namespace mutirao::barrier {

Schedule direct(const Request& request) {
    Schedule schedule;
    for (int distance = 1; distance < request.size; ++distance) {
        schedule.send((request.rank + distance) % request.size, signal);
        schedule.receive((request.rank + request.size - distance) % request.size, signal);
    }
    return schedule;
}

}  // namespace mutirao::barrier
