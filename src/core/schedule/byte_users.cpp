#include "core/schedule/byte_users.h"

#include <algorithm>
#include <iterator>

namespace mutirao {

ByteUsers::Cells::iterator ByteUsers::split(Cells& cells, Cells::iterator cell, std::size_t at_bytes) {
    const auto second = cells.insert(std::next(cell), *cell);
    std::prev(second)->end_bytes = second->begin_bytes = at_bytes;
    return second;
}

std::span<ByteUsers::Cell> ByteUsers::cells_of(const Region& region) {
    if (region.length_bytes == 0) return {};
    Cells& all = cells_[static_cast<std::size_t>(region.buffer)];
    std::size_t at = region.offset_bytes;
    auto next = std::ranges::lower_bound(all, at, {}, &Cell::begin_bytes);
    if (next != all.begin() && std::prev(next)->end_bytes > at) next = split(all, std::prev(next), at);
    const auto first = next - all.begin();
    const std::size_t end = region.end_bytes();
    for (; at < end; at = next->end_bytes, ++next) {
        const std::size_t known = next == all.end() ? end : std::min(next->begin_bytes, end);
        if (at < known) next = all.insert(next, {at, known});
        else if (next->end_bytes > end) next = std::prev(split(all, next, end));
    }
    return {all.begin() + first, next};
}

void ByteUsers::use(const Use& use, StepId step, std::vector<StepId>& after) {
    const std::span<Cell> used = cells_of(use.region);
    for (Cell& cell : used) {
        if (cell.writer != nobody) after.push_back(cell.writer);
        if (use.writes) {
            for (int at = cell.last_reader; at >= 0; at = readers_[static_cast<std::size_t>(at)].before)
                after.push_back(readers_[static_cast<std::size_t>(at)].step);
        } else if (step != nobody) {
            readers_.push_back({step, cell.last_reader});
            cell.last_reader = static_cast<int>(readers_.size()) - 1;
        }
    }
    if (!use.writes || used.empty()) return;
    // Whoever comes after a writer comes after all earlier users: one cell will do.
    used.front() = {use.region.offset_bytes, use.region.end_bytes(), step};
    Cells& all = cells_[static_cast<std::size_t>(use.region.buffer)];
    const auto second = all.begin() + (&used.front() - all.data()) + 1;
    all.erase(second, second + static_cast<std::ptrdiff_t>(used.size()) - 1);
}

}  // namespace mutirao
