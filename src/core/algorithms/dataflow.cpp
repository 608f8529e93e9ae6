#include "core/algorithms/dataflow.h"

#include <algorithm>
#include <vector>

namespace mutirao {

StepId Dataflow::send(int peer, Region data, StepId later_than) {
    if (data.length_bytes == 0) return no_id;
    return schedule_.send(peer, data, earlier({{data, false}}, later_than));
}

StepId Dataflow::receive(int peer, Region into) {
    if (into.length_bytes == 0) return no_id;
    return schedule_.receive(peer, into, earlier({{into, true}}));
}

StepId Dataflow::copy(Region from, Region into) { return work(&Schedule::copy, from, into); }

StepId Dataflow::reduce(Region from, Region into) { return work(&Schedule::reduce, from, into); }

StepId Dataflow::reduce_before(Region from, Region into) {
    return work(&Schedule::reduce_before, from, into);
}

StepId Dataflow::work(LocalStep step, Region from, Region into) {
    if (into.length_bytes == 0) return no_id;
    return (schedule_.*step)(from, into, earlier({{from, false}, {into, true}}));
}

Schedule::After Dataflow::earlier(std::initializer_list<Use> uses, StepId later_than) {
    const auto next = static_cast<StepId>(schedule_.size());
    after_.clear();
    if (later_than != no_id) after_.push_back(later_than);
    for (const Use& use : uses) users_.use(use, next, after_);
    std::sort(after_.begin(), after_.end());
    after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
    if (!after_.empty() && after_.back() == next) after_.pop_back();
    return after_;
}

namespace {

/// Those that follow each other as one.
std::vector<Region> joined_runs(std::span<const Region> pieces) {
    std::vector<Region> runs;
    for (const Region& piece : pieces) {
        if (runs.empty() || piece.buffer != runs.back().buffer || piece.offset_bytes != runs.back().end_bytes()) {
            runs.push_back(piece);
        } else {
            runs.back().length_bytes += piece.length_bytes;
        }
    }
    return runs;
}

}  // namespace

Region Packing::room(std::size_t blocks) {
    const Region region{Buffer::scratch, end_bytes_, blocks * block_bytes_};
    end_bytes_ = aligned(region.end_bytes());
    return region;
}

Region Packing::room_of(std::span<const Region> pieces) {
    std::size_t bytes = 0;
    for (const Region& piece : pieces) bytes += piece.length_bytes;
    return room(bytes / block_bytes_);
}

Region Packing::packed(std::span<const Region> pieces) {
    const std::vector<Region> runs = joined_runs(pieces);
    if (runs.size() == 1) return runs.front();
    const Region message = room_of(runs);
    pack(runs, message);
    return message;
}

void Packing::pack(std::span<const Region> pieces, const Region& message) {
    std::size_t done = 0;
    for (const Region& piece : pieces) {
        flow_.copy(piece, {message.buffer, message.offset_bytes + done, piece.length_bytes});
        done += piece.length_bytes;
    }
}

void Packing::receive(int peer, std::span<const Region> pieces) {
    const std::vector<Region> runs = joined_runs(pieces);
    if (runs.size() == 1) {
        flow_.receive(peer, runs.front());
        return;
    }
    const Region message = room_of(runs);
    flow_.receive(peer, message);
    std::size_t done = 0;
    for (const Region& run : runs) {
        flow_.copy({message.buffer, message.offset_bytes + done, run.length_bytes}, run);
        done += run.length_bytes;
    }
}

}  // namespace mutirao
