// Finds the order in which a plan runs anyway, if there is one: Plan::straight_line().
#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "mpi/executor/plan.h"

namespace mutirao::mpi {
namespace {

/// What must be complete before a step: bit n stands for the n-th message of those awaited.
using Messages = std::uint64_t;
constexpr std::size_t most_messages = 64;

bool are_the_first(Messages needed) { return (needed & (needed + 1)) == 0; }

}  // namespace

/// A plan's run without its messages. Whatever can begin does, as in an Operation; then a message is
/// awaited, of which the first steps that have not begun wait.
class StraightLine {
  public:
    explicit StraightLine(const Plan& plan)
        : plan_(plan), needed_(plan.steps().size()), can_begin_(plan.first().begin(), plan.first().end()) {
        for (const Plan::Step& step : plan.steps()) waits_for_.push_back(step.waits_for);
    }

    /// Empty: a step need not wait for all messages that are awaited before it, or they are too many.
    std::vector<Plan::Move> find() {
        do {
            if (!begin_all()) return {};
        } while (await_next());
        const bool complete = begun_ == needed_.size() && to_await_.empty();
        return complete ? std::move(moves_) : std::vector<Plan::Move>{};
    }

  private:
    struct Message {
        StepId first_dependent;
        int request;
        StepId step;
        auto operator<=>(const Message&) const = default;
    };

    bool begin_all() {
        for (std::size_t i = 0; i < can_begin_.size(); ++i) {
            const StepId id = can_begin_[i];
            if (!are_the_first(needed(id))) return false;
            begin(id);
        }
        can_begin_.clear();
        return true;
    }

    void begin(StepId id) {
        const Plan::Step& step = plan_.steps()[static_cast<std::size_t>(id)];
        ++begun_;
        moves_.push_back({id, -1});
        if (step.next_to_peer >= 0) one_less(step.next_to_peer);
        if (step.rank < 0) {
            complete(id);
            return;
        }
        constexpr StepId none = std::numeric_limits<StepId>::max();
        const auto dependents = plan_.dependents(step);
        const StepId first = dependents.empty() ? none : *std::ranges::min_element(dependents);
        if (step.kind == StepKind::receive || first != none) to_await_.insert({first, requests_, id});
        ++requests_;
    }

    bool await_next() {
        if (to_await_.empty() || awaited_ == most_messages) return false;
        const Message next = to_await_.extract(to_await_.begin()).value();
        needed(next.step) |= Messages{1} << awaited_;
        ++awaited_;
        moves_.push_back({next.step, next.request});
        complete(next.step);
        return true;
    }

    void complete(StepId id) {
        for (const StepId dependent : plan_.dependents(plan_.steps()[static_cast<std::size_t>(id)])) {
            needed(dependent) |= needed(id);
            one_less(dependent);
        }
    }

    void one_less(StepId id) {
        if (--waits_for_[static_cast<std::size_t>(id)] == 0) can_begin_.push_back(id);
    }

    Messages& needed(StepId id) { return needed_[static_cast<std::size_t>(id)]; }

    const Plan& plan_;
    std::vector<int> waits_for_;
    std::vector<Messages> needed_;
    std::vector<StepId> can_begin_;
    std::set<Message> to_await_;  ///< begun
    std::vector<Plan::Move> moves_;
    std::size_t awaited_ = 0;
    std::size_t begun_ = 0;
    int requests_ = 0;
};

void Plan::find_straight_line() {
    if (left_behind_count_ == 0 && main_source_ < 0) {
        straight_line_ = StraightLine(*this).find();
        straight_line_.shrink_to_fit();
    }
}

}  // namespace mutirao::mpi
