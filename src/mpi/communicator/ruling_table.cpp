#include "mpi/communicator/ruling_table.h"

#include <algorithm>
#include <iterator>

#include "core/text/invariant.h"
#include "mpi/communicator/record_text.h"
#include "mpi/verbose.h"

namespace mutirao::mpi {
namespace {

/// As many as a decider decides on; calls of others are counted together.
constexpr std::size_t most_classes = 1024;

/// What calls are run by: all that take turns, or on watch the one that is chosen.
std::string arms_of(const Ruling& ruling, bool settled) {
    std::string arms = to_string(ruling.candidate);
    for (const Arm& other : ruling.others) {
        arms += settled ? "" : " | " + to_string(other.candidate);
    }
    return arms;
}

}  // namespace

RulingTable::Entry* RulingTable::entry_for(const CallShape& shape, std::uint64_t call) {
    const ShapeClass exact = class_of(shape);
    ShapeClass of_any_root = exact, of_any_length = exact;
    of_any_root.root = any_root;
    of_any_length.length_class = any_length;
    for (const ShapeClass& shapes : {exact, of_any_root, of_any_length}) {
        const auto found = entries_.find(shapes);
        if (found == entries_.end()) {
            continue;
        }
        const bool narrows = shapes.length_class == any_length &&
                             exact.length_class != any_length && has_room_for(exact);
        return narrows ? &narrow(found->second, shape, call) : &found->second;
    }
    return nullptr;
}

// A ruling for any length counts, and is reported, by classes of lengths.
RulingTable::Entry& RulingTable::narrow(const Entry& entry, const CallShape& shape,
                                        std::uint64_t call) {
    ClassRecord& of_class = class_record(shape, call);
    const std::lock_guard lock(record_.mutex);
    Entry narrowed = entry;
    narrowed.record = &add_ruling(of_class, *entry.record);
    narrowed.record->first_call = call;
    return entries_[class_of(shape)] = narrowed;
}

bool RulingTable::has_room_for(const ShapeClass& shapes) const {
    const std::lock_guard lock(record_.mutex);
    return record_.classes.size() < most_classes || record_.classes.contains(shapes);
}

ClassRecord& RulingTable::class_record(const CallShape& shape, std::uint64_t call) {
    const ShapeClass shapes = class_of(shape);
    const std::lock_guard lock(record_.mutex);
    if (record_.classes.size() >= most_classes && !record_.classes.contains(shapes)) {
        return record_.other_classes;
    }
    const auto [entry, fresh] = record_.classes.try_emplace(shapes);
    if (fresh) {
        entry->second.shapes = shapes;
        entry->second.first_call = call;
    }
    if (entry->second.length_bytes == 0) {
        entry->second.length_bytes = shape.length_bytes;
    }
    return entry->second;
}

const RulingTable::Way& RulingTable::look_up(const CallShape& shape, std::uint64_t call,
                                             Way& recent) {
    const Entry* const entry = entry_for(shape, call);
    ClassRecord& record = class_record(shape, call);
    recent = {shape, {}, &record.native_calls, entry != nullptr};
    if (entry != nullptr && entry->turns) {
        recent.turns = entry->turns.get();
    }
    if (entry != nullptr && (!entry->turns || entry->ruling.rest_calls > 0)) {
        recent.by = runner_for(*entry, shape);
    }
    if (!recent.by.native()) {
        recent.calls = &entry->record->calls;
    }
    return recent;
}

RulingTable::TrialCall RulingTable::take_turn(const Way& way) {
    Turns& turns = *way.turns;
    const int number = turns.order.arm_of(turns.calls++);
    if (turns.calls % static_cast<std::uint64_t>(turns.order.window_calls()) == 0) {
        turns.rest_left = turns.order.rest_calls;
    }
    const Entry& arm = turns.arms[static_cast<std::size_t>(number)];
    const Runner by = runner_for(arm, way.shape);
    ++*(by.native() ? turns.native_calls : &arm.record->calls);
    return {by, &turns, number};
}

std::optional<TrialReport> RulingTable::end_turn(const TrialCall& call, double took_us) {
    Turns& turns = *call.turns;
    TrialReport& window = turns.window;
    if (turns.order.counts(turns.calls - 1)) {
        window.times_us[static_cast<std::size_t>(call.arm)] += took_us / turns.order.counted_calls();
    }
    if (turns.calls % static_cast<std::uint64_t>(turns.order.window_calls()) != 0) {
        return std::nullopt;
    }
    TrialReport whole = window;
    window.times_us.assign(window.times_us.size(), 0);
    ++window.window;
    return whole;
}

Runner RulingTable::runner_for(const Entry& entry, const CallShape& shape) {
    const Algorithm& algorithm = *entry.ruling.candidate.algorithm;
    return algorithm.has_schedule() ? Runner{&execution_for(entry, shape)}
                                    : Runner{nullptr, native_composition(algorithm)};
}

Execution& RulingTable::execution_for(const Entry& entry, const CallShape& shape) {
    const PlanKey key{entry.number, shape.root, shape.length_bytes, shape.unit_bytes,
                      shape.lengths};
    const auto found = plan_of_.find(key);
    if (found != plan_of_.end()) {
        plans_.splice(plans_.begin(), plans_, found->second);
        return plans_.front().execution;
    }
    const auto schedule =
        build_schedule(entry.ruling, shape, *members_.placement, members_.my_rank);
    if (!schedule) {
        broken_invariant("a ruling without schedule: root, bytes", shape.root,
                         static_cast<long long>(shape.length_bytes));
    }
    auto plan = std::make_shared<const Plan>(*schedule, entry.transport, members_);
    Planned made{key, Execution(std::move(plan))};
    make_room(made.memory_bytes());
    plan_bytes_ += made.memory_bytes();
    plans_.push_front(std::move(made));
    plan_of_.emplace(key, plans_.begin());
    return plans_.front().execution;
}

// The least recently used go; shapes that are run by one of them are looked up anew.
void RulingTable::make_room(std::size_t bytes) {
    while (!plans_.empty() &&
           (plans_.size() >= most_plans || plan_bytes_ + bytes > most_plan_bytes)) {
        for (Way& recent : recent_) {
            if (recent.by.execution == &plans_.back().execution) {
                recent = {};
            }
        }
        plan_bytes_ -= plans_.back().memory_bytes();
        plan_of_.erase(plans_.back().key);
        plans_.pop_back();
    }
}

void RulingTable::take(const Ruling& ruling, std::uint64_t call, RulingRecord explained,
                       const Transport& transport) {
    for (Way& recent : recent_) {
        recent = {};
    }
    explained.first_call = call;
    explained.chosen = arms_of(ruling, explained.settled);
    if (ruling.tree) {
        explained.tree = ruling.tree->parent;
    }
    const std::lock_guard lock(record_.mutex);
    log_if_changed(ruling, explained);
    if (!record_.first_ruled_call && !(ruling.candidate.native() && ruling.others.empty())) {
        record_.first_ruled_call = call;
    }
    const ShapeClass& shapes = ruling.shapes;
    const bool of_many_classes = shapes.length_class == any_length &&
                                 row_of(shapes.collective).in_blocks != InBlocks::own;
    if (of_many_classes) {
        std::erase_if(entries_, [&](const auto& entry) {
            return entry.first.collective == shapes.collective && entry.first.root == shapes.root &&
                   entry.first.commutes == shapes.commutes;
        });
        for_any_length_.push_back(std::move(explained));
        entries_[shapes] = {ruling, &for_any_length_.back(), transport, ++number_};
        return;
    }
    const auto [row, fresh] = record_.classes.try_emplace(shapes);
    ClassRecord& of_class = row->second;
    if (fresh) {
        of_class.shapes = shapes;
        of_class.first_call = call;
    }
    RulingRecord& record = add_ruling(of_class, std::move(explained));
    Entry& entry = entries_[shapes] = {ruling, &record, transport, ++number_};
    if (ruling.trial == 0) {
        return;
    }
    entry.turns = std::make_shared<Turns>();
    entry.turns->native_calls = &of_class.native_calls;
    entry.turns->order = {ruling.arm_count(), ruling.repetitions, ruling.rest_calls};
    entry.turns->rest_left = ruling.rest_calls;
    entry.turns->window = {shapes, ruling.trial, 0, std::vector<double>(
                                                        static_cast<std::size_t>(ruling.arm_count()))};
    for (int arm = 0; arm < ruling.arm_count(); ++arm) {
        entry.turns->arms.push_back(
            {ruling.arm(arm), entry.record, transport, arm == 0 ? entry.number : ++number_});
    }
}

// A ruling that only lets other calls rest runs no call otherwise.
void RulingTable::log_if_changed(const Ruling& ruling, const RulingRecord& explained) {
    const auto present = entries_.find(ruling.shapes);
    const bool known = present != entries_.end();
    ChoiceChange change{ruling.shapes, explained.first_call,
                        known ? present->second.record->chosen : "native", explained.chosen,
                        explained.reason, !explained.settled && !ruling.others.empty()};
    change.another_tree = known && present->second.ruling.candidate == ruling.candidate &&
                          present->second.ruling.tree != ruling.tree;
    if (change.from == change.to && !change.another_tree) {
        return;
    }
    if (is_verbose(2)) {
        say(2, title_of(record_) + ": " + said_of(record_, change) +
                   (change.why.empty() ? "" : " (" + change.why + ")"));
    }
    log_change(record_, std::move(change));
}

}  // namespace mutirao::mpi
