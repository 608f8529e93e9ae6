#include "core/algorithms/equal_blocks.h"

#include <algorithm>

namespace mutirao {

std::vector<BlockRun> runs_of(int first, int count, int size) {
    std::vector<BlockRun> runs;
    first = (first + size) % size;
    const int before_end = std::min(count, size - first);
    if (before_end > 0) runs.push_back({first, before_end, 0});
    if (count > before_end) runs.push_back({0, count - before_end, before_end});
    return runs;
}

namespace {

Blocks equal_or(const Request& request, std::span<const std::size_t> lengths) {
    const std::size_t whole = static_cast<std::size_t>(request.size) * request.length_bytes;
    return lengths.empty() ? Blocks(whole, request.size) : Blocks(lengths);
}

/// Of an exchange: what goes to each rank (0), or what comes from each (1).
Blocks blocks_of_half(const Request& request, std::size_t half) {
    const std::size_t count = request.lengths.size() / 2;
    return equal_or(request, request.lengths.subspan(half * count, count));
}

}  // namespace

Blocks blocks_of(const Request& request) { return equal_or(request, request.lengths); }

Blocks blocks_from_rank(const Request& request, int first) {
    std::vector<std::size_t> lengths(request.lengths.begin(), request.lengths.end());
    if (!lengths.empty()) std::rotate(lengths.begin(), lengths.begin() + first, lengths.end());
    return equal_or(request, lengths);
}

std::size_t longest_block_bytes(const Request& request) {
    if (request.lengths.empty()) return request.length_bytes;
    return *std::max_element(request.lengths.begin(), request.lengths.end());
}

std::size_t own_length_bytes(const Request& request) {
    if (request.lengths.empty()) return request.length_bytes;
    return request.lengths.size() == 1 ? request.lengths.front()
                                       : request.lengths[static_cast<std::size_t>(request.rank)];
}

void copy_messages(Schedule& schedule, Region from, Region into) {
    const std::vector<Region> sources = messages_of(from), targets = messages_of(into);
    for (std::size_t i = 0; i < sources.size(); ++i) schedule.copy(sources[i], targets[i]);
}

Schedule in_rounds(const Request& request, Partners partners, int window) {
    const Blocks sent = blocks_of_half(request, 0), received = blocks_of_half(request, 1);
    const int rank = request.rank;
    const int size = request.size;
    const std::size_t segment_bytes = request.parameters.segment_bytes;
    Schedule schedule;
    // Of the rounds that have any, since those without hold nobody back, and as far as another waits for them.
    std::vector<std::vector<StepId>> messages;
    const auto under_way = static_cast<std::size_t>(window);
    for (int round = 1; round < size; ++round) {
        const bool paired = partners == Partners::paired;
        const int to = paired ? rank ^ round : (rank + round) % size;
        const int from = paired ? to : (rank + size - round) % size;
        Schedule::After after;
        if (messages.size() >= under_way) after = messages[messages.size() - under_way];
        std::vector<StepId> of_round;
        for (const Region& message : messages_of(sent.block(to, Buffer::input), segment_bytes)) {
            of_round.push_back(schedule.send(to, message, after));
        }
        for (const Region& message : messages_of(received.block(from), segment_bytes)) {
            of_round.push_back(schedule.receive(from, message, after));
        }
        if (!of_round.empty() && window < size - 1) messages.push_back(std::move(of_round));
    }
    copy_messages(schedule, sent.block(rank, Buffer::input), received.block(rank));
    return schedule;
}

}  // namespace mutirao
