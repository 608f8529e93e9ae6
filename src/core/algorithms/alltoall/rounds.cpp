#include "core/algorithms/alltoall/rounds.h"

#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::alltoall {

Schedule in_rounds(const Request& request, Partners partners, int window) {
    Schedule schedule;
    if (request.length_bytes == 0) return schedule;
    const int rank = request.rank;
    const int size = request.size;
    std::vector<StepId> steps;  // of round i, the two from 2 (i - 1) on
    for (int round = 1; round < size; ++round) {
        const bool paired = partners == Partners::paired;
        const int to = paired ? rank ^ round : (rank + round) % size;
        const int from = paired ? to : (rank + size - round) % size;
        Schedule::After after;
        if (round > window) {
            const auto earlier = static_cast<std::size_t>(round - window - 1);
            after = Schedule::After(steps).subspan(2 * earlier, 2);
        }
        const StepId sent =
            schedule.send(to, nth_block(Buffer::input, to, request.length_bytes), after);
        const StepId received = schedule.receive(
            from, nth_block(Buffer::output, from, request.length_bytes), after);
        steps.push_back(sent);
        steps.push_back(received);
    }
    schedule.copy(nth_block(Buffer::input, rank, request.length_bytes),
                  nth_block(Buffer::output, rank, request.length_bytes));
    return schedule;
}

}  // namespace mutirao::alltoall
