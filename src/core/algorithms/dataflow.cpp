// Each buffer is cut into cells of bytes that have had the same users.
#include "core/algorithms/dataflow.h"

#include <algorithm>
#include <optional>

namespace mutirao {

StepId Dataflow::send(int peer, Region data, StepId later_than) {
    if (data.length_bytes == 0) return no_id;
    after_.clear();
    if (later_than != no_id) after_.push_back(later_than);
    const std::span<Cell> read = wait_to_read(data);
    const StepId id = schedule_.send(peer, data, waited_for());
    add_reader(id, read);
    return id;
}

StepId Dataflow::receive(int peer, Region into) {
    if (into.length_bytes == 0) return no_id;
    after_.clear();
    const std::span<Cell> written = wait_to_write(into);
    const StepId id = schedule_.receive(peer, into, waited_for());
    set_writer(id, into, written);
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
    add_reader(id, cells_of(from));
    set_writer(id, into, cells_of(into));
    return id;
}

Dataflow::Cells::iterator Dataflow::split(Cells& cells, Cells::iterator cell, std::size_t at_bytes) {
    const auto second = cells.insert(std::next(cell), *cell);
    std::prev(second)->end_bytes = second->begin_bytes = at_bytes;
    return second;
}

std::span<Dataflow::Cell> Dataflow::cells_of(const Region& region) {
    Cells& all = cells(region);
    std::size_t at = region.offset_bytes;
    auto next = std::ranges::lower_bound(all, at, {}, &Cell::begin_bytes);
    if (next != all.begin() && std::prev(next)->end_bytes > at) next = split(all, std::prev(next), at);
    const auto first = next - all.begin();
    for (; at < region.end_bytes(); at = next->end_bytes, ++next) {
        const std::size_t known = next == all.end() ? region.end_bytes() : std::min(next->begin_bytes, region.end_bytes());
        if (at < known) next = all.insert(next, {at, known});
        else if (next->end_bytes > region.end_bytes()) next = std::prev(split(all, next, region.end_bytes()));
    }
    return {all.begin() + first, next};
}

std::span<Dataflow::Cell> Dataflow::wait_to_read(const Region& region) {
    const std::span<Cell> read = cells_of(region);
    for (const Cell& cell : read) {
        if (cell.writer != no_id) after_.push_back(cell.writer);
    }
    return read;
}

std::span<Dataflow::Cell> Dataflow::wait_to_write(const Region& region) {
    const std::span<Cell> written = wait_to_read(region);
    for (const Cell& cell : written) {
        for (int at = cell.last_reader; at >= 0; at = readers_[static_cast<std::size_t>(at)].before)
            after_.push_back(readers_[static_cast<std::size_t>(at)].step);
    }
    return written;
}

Schedule::After Dataflow::waited_for() {
    std::sort(after_.begin(), after_.end());
    after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
    return after_;
}

void Dataflow::add_reader(StepId step, std::span<Cell> read) {
    for (Cell& cell : read) {
        readers_.push_back({step, cell.last_reader});
        cell.last_reader = static_cast<int>(readers_.size()) - 1;
    }
}

// Whoever comes after this step comes after all earlier users: one cell will do.
void Dataflow::set_writer(StepId step, const Region& region, std::span<Cell> written) {
    written.front() = {region.offset_bytes, region.end_bytes(), step};
    Cells& all = cells(region);
    const auto second = all.begin() + (&written.front() - all.data()) + 1;
    all.erase(second, second + static_cast<std::ptrdiff_t>(written.size()) - 1);
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
