#include "mpi/executor/plan.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "core/schedule/connections.h"
#include "mpi/executor/arrival_rate.h"

namespace mutirao::mpi {
namespace {

bool is_message(const mutirao::Step& step) {
    return step.kind == StepKind::send || step.kind == StepKind::receive;
}

bool overlap(const Region& a, const Region& b) {
    return a.buffer == b.buffer && a.offset_bytes < b.end_bytes() && b.offset_bytes < a.end_bytes();
}

/// What must be complete before a step: bit n stands for the n-th message of those awaited.
using Messages = std::uint64_t;
constexpr std::size_t most_messages = 64;

bool are_the_first(Messages needed) { return (needed & (needed + 1)) == 0; }

}  // namespace

Plan::Plan(const Schedule& schedule, const Transport& transport, const Members& members)
    : scratch_bytes_(schedule.scratch_bytes()) {
    add_steps(schedule,
              detached_sends(schedule, transport, *members.placement, members.my_rank),
              members.twin_rank_of);
    find_main_source();
    std::vector<std::vector<StepId>> dependents(steps_.size());
    StepId id = 0;
    for (const mutirao::Step& step : schedule.steps()) {
        for (const StepId before : schedule.dependencies(step)) {
            dependents[static_cast<std::size_t>(before)].push_back(id);
        }
        ++id;
    }
    add_order_and_window(dependents);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        steps_[i].first_dependent = static_cast<std::uint32_t>(dependents_.size());
        steps_[i].dependent_count = static_cast<std::uint32_t>(dependents[i].size());
        dependents_.insert(dependents_.end(), dependents[i].begin(), dependents[i].end());
        if (steps_[i].waits_for == 0) {
            first_.push_back(static_cast<StepId>(i));
        }
    }
    find_straight_line();
}

void Plan::add_steps(const Schedule& schedule, const std::vector<bool>& detached,
                     std::span<const int> twin_rank_of) {
    steps_.reserve(schedule.size());
    std::vector<Copied> copied;
    for (const mutirao::Step& step : schedule.steps()) {
        const bool left_behind = detached[steps_.size()];
        const int rank = is_message(step) ? twin_rank_of[static_cast<std::size_t>(step.peer)] : -1;
        const Region& region = step.kind == StepKind::receive ? step.target : step.source;
        Step made{step.kind, left_behind, step.source_first, step.source.buffer,
                  step.target.buffer, rank, static_cast<int>(region.length_bytes),
                  step.source.offset_bytes, step.target.offset_bytes,
                  static_cast<int>(step.dependency_count), 0, 0, -1};
        if (left_behind) {
            ++left_behind_count_;
            made.copy_bytes = place_of_copy(region, copied);
        } else if (step.kind != StepKind::send) {
            // Steps that use the same bytes run in the order in which they stand.
            std::erase_if(copied,
                          [&](const Copied& each) { return overlap(each.region, step.target); });
        }
        send_count_ += step.kind == StepKind::send ? 1 : 0;
        steps_.push_back(made);
    }
}

void Plan::find_main_source() {
    std::map<int, double> bytes_from;
    double most_bytes = ArrivalRate::least_bytes;
    for (const Step& step : steps_) {
        if (step.kind != StepKind::receive) {
            continue;
        }
        // The first piece does not count.
        const auto [from, is_first] = bytes_from.try_emplace(step.rank, 0);
        from->second += is_first ? 0 : step.length_bytes;
        if (from->second >= most_bytes) {
            most_bytes = from->second;
            main_source_ = step.rank;
        }
    }
}

/// Sends of the same bytes share their copy, until these are written anew.
std::size_t Plan::place_of_copy(const Region& region, std::vector<Copied>& copied) {
    const auto known = std::find_if(copied.begin(), copied.end(), [&](const Copied& each) {
        return each.region == region;
    });
    if (known != copied.end()) {
        return known->copy_bytes;
    }
    copied.push_back({region, copy_bytes_});
    return std::exchange(copy_bytes_, copy_bytes_ + region.length_bytes);
}

// Chains the messages of each kind and peer: one starts after its predecessor started, and after the
// one `window` places before it is complete.
void Plan::add_order_and_window(std::vector<std::vector<StepId>>& dependents) {
    std::map<std::pair<StepKind, int>, std::vector<StepId>> chains;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        Step& step = steps_[i];
        if (step.rank < 0) {
            continue;
        }
        std::vector<StepId>& chain = chains[{step.kind, step.rank}];
        if (!chain.empty()) {
            steps_[static_cast<std::size_t>(chain.back())].next_to_peer = static_cast<StepId>(i);
            ++step.waits_for;
        }
        if (chain.size() >= static_cast<std::size_t>(window)) {
            const StepId earlier = chain[chain.size() - static_cast<std::size_t>(window)];
            dependents[static_cast<std::size_t>(earlier)].push_back(static_cast<StepId>(i));
            ++step.waits_for;
        }
        chain.push_back(static_cast<StepId>(i));
    }
}

// --- the order in which a plan runs anyway, if there is one ---------------------------------------------

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
