#include "core/schedule/byte_users.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/schedule/printer.h"

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

// Since dependencies point backwards, "ordered" always means "the earlier step is an ancestor of
// the later", and as long as no race was found the last writer of some bytes has every earlier user
// of them as its ancestor, so looking that far back is enough.

namespace {

class RaceSearch {
  public:
    explicit RaceSearch(const Schedule& schedule)
        : schedule_(schedule), visited_by_(schedule.size(), -1) {}

    /// The earlier and the later step of a race; both -1 if there is none.
    std::pair<StepId, StepId> run() {
        for (StepId step = 0; step < static_cast<StepId>(schedule_.size()); ++step) {
            const Step& content = schedule_.steps()[static_cast<std::size_t>(step)];
            needed_.clear();
            const Uses uses(content);
            users_.use(uses.read, step, needed_);
            users_.use(uses.written, step, needed_);
            std::erase(needed_, step);
            if (const StepId other = first_unordered(step, content); other >= 0)
                return {other, step};
        }
        return {-1, -1};
    }

  private:
    StepId first_unordered(StepId step, const Step& content) {
        const Schedule::After direct = schedule_.dependencies(content);
        std::erase_if(needed_, [&](StepId other) {
            return std::find(direct.begin(), direct.end(), other) != direct.end();
        });
        if (needed_.empty()) return -1;
        mark_ancestors(step, *std::min_element(needed_.begin(), needed_.end()));
        const auto unordered = std::find_if(needed_.begin(), needed_.end(), [&](StepId other) {
            return visited_by_[static_cast<std::size_t>(other)] != step;
        });
        return unordered == needed_.end() ? -1 : *unordered;
    }

    /// Marks the ancestors of `step` that are not before `oldest`.
    void mark_ancestors(StepId step, StepId oldest) {
        pending_.assign(1, step);
        while (!pending_.empty()) {
            const StepId at = pending_.back();
            pending_.pop_back();
            const Step& content = schedule_.steps()[static_cast<std::size_t>(at)];
            for (const StepId before : schedule_.dependencies(content)) {
                if (before < oldest || visited_by_[static_cast<std::size_t>(before)] == step)
                    continue;
                visited_by_[static_cast<std::size_t>(before)] = step;
                pending_.push_back(before);
            }
        }
    }

    const Schedule& schedule_;
    ByteUsers users_;
    std::vector<StepId> needed_;
    std::vector<StepId> visited_by_;  ///< per step: the last step whose ancestor it was found to be
    std::vector<StepId> pending_;
};

}  // namespace

std::string find_race(const Schedule& schedule, int rank) {
    const auto [earlier, later] = RaceSearch(schedule).run();
    if (later < 0) return {};
    const auto words = [&](StepId id) {
        return describe(rank, id, schedule.steps()[static_cast<std::size_t>(id)]);
    };
    return "race: " + words(earlier) + " and " + words(later) +
           " use the same bytes, and no dependency orders them";
}

}  // namespace mutirao
