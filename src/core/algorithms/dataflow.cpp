// Each buffer is cut into cells of bytes that have had the same users.
#include "core/algorithms/dataflow.h"

#include <algorithm>
#include <optional>

namespace mutirao {

StepId Dataflow::send(int peer, Region data, StepId later_than) {
    if (data.length_bytes == 0) return no_id;
    after_.clear();
    if (later_than != no_id) after_.push_back(later_than);
    wait_to_read(data);
    const StepId id = schedule_.send(peer, data, waited_for());
    remember(id, data, {});
    return id;
}

StepId Dataflow::receive(int peer, Region into) {
    if (into.length_bytes == 0) return no_id;
    after_.clear();
    wait_to_write(into);
    const StepId id = schedule_.receive(peer, into, waited_for());
    remember(id, {}, into);
    return id;
}

StepId Dataflow::copy(Region from, Region into) { return work(&Schedule::copy, from, into); }

StepId Dataflow::reduce(Region from, Region into) { return work(&Schedule::reduce, from, into); }

StepId Dataflow::reduce_before(Region from, Region into) {
    return work(&Schedule::reduce_before, from, into);
}

StepId Dataflow::work(LocalStep step, Region from, Region into) {
    if (into.length_bytes == 0) return no_id;
    after_.clear();
    wait_to_read(from);
    wait_to_write(into);
    const StepId id = (schedule_.*step)(from, into, waited_for());
    remember(id, from, into);
    return id;
}

void Dataflow::split(Cells& cells, std::size_t at_bytes) {
    auto next = cells.upper_bound(at_bytes);
    if (next == cells.begin()) return;
    auto& [begin, cell] = *std::prev(next);
    if (begin == at_bytes || cell.end_bytes <= at_bytes) return;
    cells.emplace_hint(next, at_bytes, cell);
    cell.end_bytes = at_bytes;
}

void Dataflow::cut(const Region& region) {
    Cells& all = cells(region);
    split(all, region.offset_bytes);
    split(all, region.end_bytes());
    std::size_t at = region.offset_bytes;
    for (auto next = all.lower_bound(at); at < region.end_bytes(); ++next) {
        const bool beyond = next == all.end() || next->first >= region.end_bytes();
        const std::size_t known = beyond ? region.end_bytes() : next->first;
        if (at < known) next = all.emplace_hint(next, at, Cell{.end_bytes = known});
        at = next->second.end_bytes;
    }
}

void Dataflow::wait_to_read(const Region& region) {
    cut(region);
    Cells& all = cells(region);
    const auto end = all.lower_bound(region.end_bytes());
    for (auto cell = all.lower_bound(region.offset_bytes); cell != end; ++cell) {
        if (cell->second.writer != no_id) after_.push_back(cell->second.writer);
    }
}

void Dataflow::wait_to_write(const Region& region) {
    wait_to_read(region);
    Cells& all = cells(region);
    const auto end = all.lower_bound(region.end_bytes());
    for (auto cell = all.lower_bound(region.offset_bytes); cell != end; ++cell) {
        const auto& readers = cell->second.readers;
        after_.insert(after_.end(), readers.begin(), readers.end());
    }
}

Schedule::After Dataflow::waited_for() {
    std::sort(after_.begin(), after_.end());
    after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
    return after_;
}

void Dataflow::remember(StepId step, const Region& read, const Region& written) {
    if (read.length_bytes > 0) {
        Cells& all = cells(read);
        const auto end = all.lower_bound(read.end_bytes());
        for (auto cell = all.lower_bound(read.offset_bytes); cell != end; ++cell) {
            cell->second.readers.push_back(step);
        }
    }
    if (written.length_bytes == 0) return;
    // Whoever comes after this step comes after all earlier users: one cell will do.
    Cells& all = cells(written);
    all.erase(all.lower_bound(written.offset_bytes), all.lower_bound(written.end_bytes()));
    all[written.offset_bytes] = {.end_bytes = written.end_bytes(), .writer = step};
}

namespace {

/// All of them together if each begins where the one before ends.
std::optional<Region> one_piece(std::span<const Region> pieces) {
    Region whole = pieces.front();
    for (const Region& piece : pieces.subspan(1)) {
        if (piece.buffer != whole.buffer || piece.offset_bytes != whole.end_bytes()) {
            return std::nullopt;
        }
        whole.length_bytes += piece.length_bytes;
    }
    return whole;
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
    if (const auto whole = one_piece(pieces)) return *whole;
    const Region message = room_of(pieces);
    pack(pieces, message);
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
    if (const auto whole = one_piece(pieces)) {
        flow_.receive(peer, *whole);
        return;
    }
    const Region message = room_of(pieces);
    flow_.receive(peer, message);
    std::size_t done = 0;
    for (const Region& piece : pieces) {
        flow_.copy({message.buffer, message.offset_bytes + done, piece.length_bytes}, piece);
        done += piece.length_bytes;
    }
}

}  // namespace mutirao
