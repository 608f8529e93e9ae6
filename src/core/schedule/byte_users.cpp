#include "core/schedule/byte_users.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/schedule/printer.h"

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

// Since dependencies point backwards, "ordered" always means "the earlier step is an ancestor of
// the later", and as long as no race was found the last writer of some bytes has every earlier user
// of them as its ancestor, so looking that far back is enough.

namespace {

class RaceSearch {
  public:
    explicit RaceSearch(const Schedule& schedule)
        : schedule_(schedule), users_(schedule.steps()), visited_by_(schedule.size(), -1) {}

    /// The earlier and the later step of a race; both -1 if there is none.
    std::pair<StepId, StepId> run() {
        for (StepId step = 0; step < static_cast<StepId>(schedule_.size()); ++step) {
            const Step& content = schedule_.steps()[static_cast<std::size_t>(step)];
            needed_.clear();
            const Uses uses(content);
            users_.collect(uses.read, needed_);
            users_.collect(uses.written, needed_);
            if (const StepId other = first_unordered(step, content); other >= 0)
                return {other, step};
            users_.remember(uses.read, step);
            users_.remember(uses.written, step);
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
