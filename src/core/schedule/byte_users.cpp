#include "core/schedule/byte_users.h"

#include <algorithm>

namespace mutirao {

ByteUsers::ByteUsers(std::span<const Step> steps) : ByteUsers(steps, {}) {}

ByteUsers::ByteUsers(std::span<const Step> steps, std::span<const Step> further) {
    add_cuts(steps);
    add_cuts(further);
    make_cells();
}

void ByteUsers::add_cuts(std::span<const Step> steps) {
    const auto add = [&](const Region& region) {
        if (region.length_bytes == 0) return;
        const Cut begin{region.buffer, region.offset_bytes};
        const Cut end{region.buffer, region.end_bytes()};
        if (cuts_.size() >= 2 && cuts_[cuts_.size() - 2] == begin && cuts_.back() == end) return;
        cuts_.push_back(begin);
        cuts_.push_back(end);
    };
    for (const Step& step : steps) {
        const Uses uses(step);
        add(uses.read.region);
        add(uses.written.region);
    }
}

void ByteUsers::make_cells() {
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    last_writer_.assign(cuts_.size(), -1);
    readers_.assign(cuts_.size(), -1);
}

template <class Visit>
void ByteUsers::each_cell(const Region& region, Visit visit) const {
    const Cut begin{region.buffer, region.offset_bytes};
    auto cell = std::lower_bound(cuts_.begin(), cuts_.end(), begin);
    for (; cell != cuts_.end() && cell->first == region.buffer &&
           cell->second < region.end_bytes();
         ++cell)
        visit(static_cast<std::size_t>(cell - cuts_.begin()));
}

void ByteUsers::collect(const Use& use, std::vector<StepId>& into) const {
    each_cell(use.region, [&](std::size_t cell) {
        if (last_writer_[cell] >= 0) into.push_back(last_writer_[cell]);
        if (!use.writes) return;
        for (int at = readers_[cell]; at >= 0;) {
            const Reader& reader = reader_pool_[static_cast<std::size_t>(at)];
            into.push_back(reader.step);
            at = reader.next;
        }
    });
}

void ByteUsers::remember(const Use& use, StepId step) {
    each_cell(use.region, [&](std::size_t cell) {
        if (use.writes) {
            last_writer_[cell] = step;
            readers_[cell] = -1;
        } else {
            reader_pool_.push_back({step, readers_[cell]});
            readers_[cell] = static_cast<int>(reader_pool_.size()) - 1;
        }
    });
}

void ByteUsers::forget(const Region& region) {
    each_cell(region, [&](std::size_t cell) { last_writer_[cell] = readers_[cell] = -1; });
}

}  // namespace mutirao
