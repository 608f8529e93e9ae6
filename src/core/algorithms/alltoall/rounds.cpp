#include "core/algorithms/alltoall/rounds.h"

#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::alltoall {

Schedule in_rounds(const Request& request, Partners partners, int window) {
    const Blocks sent = blocks_sent(request), received = blocks_received(request);
    const int rank = request.rank;
    const int size = request.size;
    Schedule schedule;
    // Of the rounds that have any, since those without hold nobody back.
    std::vector<std::vector<StepId>> messages;
    for (int round = 1; round < size; ++round) {
        const bool paired = partners == Partners::paired;
        const int to = paired ? rank ^ round : (rank + round) % size;
        const int from = paired ? to : (rank + size - round) % size;
        Schedule::After after;
        const auto under_way = static_cast<std::size_t>(window);
        if (messages.size() >= under_way) after = messages[messages.size() - under_way];
        std::vector<StepId> of_round;
        for (const Region& message : messages_of(sent.block(to, Buffer::input))) {
            of_round.push_back(schedule.send(to, message, after));
        }
        for (const Region& message : messages_of(received.block(from))) {
            of_round.push_back(schedule.receive(from, message, after));
        }
        if (!of_round.empty()) messages.push_back(std::move(of_round));
    }
    copy_messages(schedule, sent.block(rank, Buffer::input), received.block(rank));
    return schedule;
}

}  // namespace mutirao::alltoall
