// What rounds.h declares, and the exchanges in which a rank deals with few others at a time.
#include "core/algorithms/alltoall/rounds.h"

#include <bit>
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::alltoall {

Schedule in_rounds(const Request& request, Partners partners, int window) {
    const Blocks sent = blocks_sent(request), received = blocks_received(request);
    const int rank = request.rank;
    const int size = request.size;
    const std::size_t segment_bytes = request.parameters.segment_bytes;
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
        for (const Region& message : messages_of(sent.block(to, Buffer::input), segment_bytes)) {
            of_round.push_back(schedule.send(to, message, after));
        }
        for (const Region& message : messages_of(received.block(from), segment_bytes)) {
            of_round.push_back(schedule.receive(from, message, after));
        }
        if (!of_round.empty()) messages.push_back(std::move(of_round));
    }
    copy_messages(schedule, sent.block(rank, Buffer::input), received.block(rank));
    return schedule;
}

// The two of a pair exchange their blocks where p is a power of two, otherwise each rank sends to one and receives
// from another.
//
// Cost, p ranks, blocks of n bytes: p - 1 rounds of one message a rank; a port sends and receives (p - 1) n bytes,
// never to or from two ranks at a time. For long blocks.
static Schedule pairwise(const Request& request) {
    const bool pairs = std::has_single_bit(static_cast<unsigned>(request.size));
    return in_rounds(request, pairs ? Partners::paired : Partners::shifted, 1);
}

Algorithm pairwise() {
    return {.name = "pairwise",
            .summary = "one partner at a time",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = pairwise, .blocks = InBlocks::own};
}

// As linear, but with at most `radix` ranks sent to and as many received from at a time, which bounds how many
// messages meet at a port, as in the throttled exchange that MPICH makes of its linear one.
//
// Cost, p ranks, blocks of n bytes, window w: about (p - 1) / w latencies in a row, p - 1 messages a rank; a port
// sends and receives (p - 1) n bytes. Window 1 is pairwise but for powers of two, a window of p - 1 linear.
static Schedule windowed(const Request& request) {
    return in_rounds(request, Partners::shifted, request.parameters.radix);
}

Algorithm windowed() {
    return {.name = "windowed",
            .summary = "at most `radix` partners at a time",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = windowed, .radices = {4, 16, 32}, .blocks = InBlocks::own};
}

}  // namespace mutirao::alltoall
