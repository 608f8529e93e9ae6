// The root asks by an empty message: the next rank as soon as the first segment of the last block and all of the
// one before are there, so that its port and its memory never have to take more than two blocks at a time (Open
// MPI goes by first segments alone; the gather of Sun's MPI over TCP asked as well).
//
// Cost, p ranks, blocks of n bytes: p - 1 times what is longer, two trips and a segment or n bytes through the
// root's port, where linear has one trip for all of them; in one piece p - 1 times two trips and n bytes. Nobody
// is done before the root has come. It pays where many senders at once lose packets or fill memory, which
// predictions do not know.
#include <utility>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/shape.h"

namespace mutirao {
namespace {

/// The messages of a block: the first segment, and what is left in as few as possible.
std::vector<Region> first_segment_and_rest(Region block, std::size_t segment_bytes) {
    if (segment_bytes == 0 || segment_bytes >= block.length_bytes) return messages_of(block);
    const Region rest{block.buffer, block.offset_bytes + segment_bytes,
                      block.length_bytes - segment_bytes};
    std::vector<Region> messages = messages_of(rest);
    messages.insert(messages.begin(), {block.buffer, block.offset_bytes, segment_bytes});
    return messages;
}

Schedule answer(const Request& request) {
    Schedule schedule;
    const auto messages =
        first_segment_and_rest(own_input(request), request.parameters.segment_bytes);
    if (messages.empty()) return schedule;
    const StepId asked = schedule.receive(request.root, signal);
    for (const Region& message : messages) schedule.send(request.root, message, {&asked, 1});
    return schedule;
}

Schedule ask_all(const Request& request) {
    Schedule schedule;
    const Blocks blocks = blocks_of(request);
    copy_messages(schedule, own_input(request), blocks.block(request.rank));
    std::vector<StepId> awaited;
    std::vector<StepId> last_ended;
    for (int distance = 1; distance < request.size; ++distance) {
        const int peer = real_rank(distance, request.root, request.size);
        const auto messages =
            first_segment_and_rest(blocks.block(peer), request.parameters.segment_bytes);
        if (messages.empty()) continue;
        schedule.send(peer, signal, awaited);
        awaited = std::exchange(last_ended, {});
        awaited.push_back(schedule.receive(peer, messages.front()));
        last_ended = {awaited.back()};
        for (const Region& message : std::span(messages).subspan(1)) {
            last_ended = {schedule.receive(peer, message)};
        }
    }
    return schedule;
}

Schedule gather_synchronised(const Request& request) {
    return request.rank == request.root ? ask_all(request) : answer(request);
}

}  // namespace

std::vector<Algorithm> gather_synchronised_rows() {
    using enum Collective;
    return {
        {.collective = gather, .name = "synchronised",
         .summary = "the root asks for one block after another, the next while the last still comes",
         .source = "Open MPI, linear_sync",
         .build = gather_synchronised, .segmented = true, .blocks = InBlocks::own},
    };
}

}  // namespace mutirao
