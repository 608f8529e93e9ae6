#include "mpi/communicator/ruling_table.h"

#include <utility>

#include "core/algorithms/over_placement.h"
#include "mpi/account/record.h"
#include "mpi/base/runtime.h"

namespace mutirao::mpi {
namespace {

/// As many as a decider decides on; calls of others are counted together.
constexpr std::size_t most_classes = 1024;

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
    ClassRecord& of_class = class_record(shapes, call);
    if (of_class.length_bytes == 0) {
        of_class.length_bytes = shape.length_bytes;
    }
    return of_class;
}

// With the lock held.
ClassRecord& RulingTable::class_record(const ShapeClass& shapes, std::uint64_t call) {
    const auto [entry, fresh] = record_.classes.try_emplace(shapes);
    if (fresh) {
        entry->second.first_call = call;
    }
    return entry->second;
}

const RulingTable::Way& RulingTable::look_up(const CallShape& shape, std::uint64_t call,
                                             Way& recent) {
    const Entry* const entry = entry_for(shape, call);
    ClassRecord& record = class_record(shape, call);
    recent = {shape, {}, &record.native_calls, entry != nullptr};
    recent.asked = asked_.contains(class_of(shape));
    recent.course = course_of(shape, entry);
    if (entry != nullptr) {
        recent.by = runner_for(*entry, shape);
    }
    if (!recent.by.native()) {
        recent.calls = &entry->record->calls;
    }
    return recent;
}

bool RulingTable::asks_for(const Way& way) {
    if (way.asked || asked_.size() >= most_classes) {
        return false;
    }
    const ShapeClass shapes = class_of(way.shape);
    asked_.insert(shapes);
    for (Way& recent : recent_) {
        recent.asked = recent.asked || (recent.calls != nullptr && class_of(recent.shape) == shapes);
    }
    return true;
}

// Calls that are ruled for all lengths at once are not compared with each other.
RulingTable::ClassCourse* RulingTable::course_of(const CallShape& shape, const Entry* entry) {
    const ShapeClass shapes = class_of(shape);
    const auto found = courses_.find(shapes);
    if (found != courses_.end()) {
        return found->second.clocks() ? &found->second : nullptr;
    }
    if (entry != nullptr || !clocks_ || courses_.size() >= most_classes) {
        return nullptr;
    }
    return &courses_.try_emplace(shapes, shapes).first->second;
}

Runner RulingTable::begin_clocked(const Way& way) {
    if (!way.course->probes()) {
        count_up(*way.calls);
        return way.by;
    }
    const Entry& probe = *way.course->probe;
    count_up(probe.record->probe_calls);
    return runner_for(probe, CallShape(way.shape));  // making room for a plan may end the way
}

std::vector<TimeReport> RulingTable::take_reports() {
    std::vector<TimeReport> reports = std::exchange(untold_, {});
    for (auto& [shapes, course] : courses_) {
        if (course.has_untold()) {
            reports.push_back(course.take_report());
        }
    }
    return reports;
}

std::vector<Decider::CallsMade> RulingTable::calls_made() const {
    const std::lock_guard lock(record_.mutex);
    std::vector<Decider::CallsMade> made;
    made.reserve(record_.classes.size());
    for (const auto& [shapes, of_class] : record_.classes) {
        made.push_back({shapes, of_class.native_calls + own_calls(of_class)});
    }
    return made;
}

std::vector<Decider::NativeTime> RulingTable::native_times() const {
    std::vector<Decider::NativeTime> times;
    const std::lock_guard lock(record_.mutex);
    for (const auto& [shapes, of_class] : record_.classes) {
        const auto course = courses_.find(shapes);
        if (course != courses_.end()) {
            times.push_back({shapes, of_class.native_calls, course->second.untold_us()});
        }
    }
    return times;
}

Runner RulingTable::runner_for(const Entry& entry, const CallShape& shape) {
    const Algorithm& algorithm = *entry.ruling.candidate.algorithm;
    return algorithm.has_schedule() ? Runner{&plan_for(entry, shape)}
                                    : Runner{nullptr, native_composition(algorithm)};
}

const Plan& RulingTable::plan_for(const Entry& entry, const CallShape& shape) {
    const PlanKey key{entry.number, shape.root, shape.length_bytes, shape.unit_bytes,
                      shape.lengths};
    const auto found = plan_of_.find(key);
    if (found != plan_of_.end()) {
        plans_.splice(plans_.begin(), plans_, found->second);
        return plans_.front().plan;
    }
    const Composer composer(entry.ruling.candidate, shape, *members_.placement, entry.ruling.tree_or_null());
    Planned made{key, Plan(composer.part_of(members_.my_rank, shape), entry.transport, members_)};
    if (connections_ != nullptr) {
        connections_->open_along(made.plan);
    }
    make_room(made.memory_bytes());
    plan_bytes_ += made.memory_bytes();
    plans_.push_front(std::move(made));
    plan_of_.emplace(key, plans_.begin());
    return plans_.front().plan;
}

// The least recently used go; shapes that are run by one of them are looked up anew.
void RulingTable::make_room(std::size_t bytes) {
    while (!plans_.empty() && plan_bytes_ + bytes > most_plan_bytes) {
        for (Way& recent : recent_) {
            if (recent.by.plan == &plans_.back().plan) {
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
    forget_recent();
    explained.first_call = call;
    explained.chosen = to_string(ruling.candidate);
    if (ruling.tree) {
        explained.tree = ruling.tree->parent;
    }
    const std::lock_guard lock(record_.mutex);
    log_if_changed(ruling, explained);
    if (!record_.first_ruled_call && !(ruling.candidate.native() && !ruling.probe)) {
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
    ClassRecord& of_class = class_record(shapes, call);
    const auto present = entries_.find(shapes);
    const bool runs_on = present != entries_.end() && present->second.ruling.candidate == ruling.candidate &&
                         present->second.ruling.tree == ruling.tree;
    RulingRecord* const record = runs_on ? present->second.record : &add_ruling(of_class, std::move(explained));
    if (runs_on) {
        present->second.ruling = ruling;
    } else {
        entries_[shapes] = {ruling, record, transport, ++number_};
    }
    begin_course(shapes, ruling, entries_.at(shapes));
}

void RulingTable::begin_course(const ShapeClass& shapes, const Ruling& ruling, const Entry& entry) {
    const auto before = courses_.extract(shapes);
    if (!before.empty() && before.mapped().has_untold()) {
        untold_.push_back(before.mapped().take_report());
    }
    if (ruling.id == 0 || ruling.clocking.samples() == 0) {
        return;
    }
    ClassCourse& course = courses_.try_emplace(shapes, ruling).first->second;
    if (ruling.probe) {
        course.probe = Entry{{shapes, ruling.probe->candidate, ruling.probe->tree}, entry.record, entry.transport,
                             ++number_};
    }
}

// A ruling by which calls are only clocked anew runs no call otherwise.
void RulingTable::log_if_changed(const Ruling& ruling, const RulingRecord& explained) {
    const auto present = entries_.find(ruling.shapes);
    const bool known = present != entries_.end();
    ChoiceChange change{ruling.shapes, explained.first_call,
                        known ? present->second.record->chosen : "native", explained.chosen, explained.reason};
    change.another_tree = known && present->second.ruling.candidate == ruling.candidate &&
                          present->second.ruling.tree != ruling.tree;
    if (ruling.probe) {
        change.to = to_string(ruling.probe->candidate);
        change.probe_calls = std::uint64_t{ruling.clocking.probe} * ruling.clocking.calls_per_sample;
        change.lead_calls = std::uint64_t{ruling.clocking.lead} * ruling.clocking.calls_per_sample;
    } else if (change.from == change.to && !change.another_tree) {
        return;
    }
    if (is_verbose(2)) {
        say(2, title_of(record_) + ": " + said_of(record_, change) +
                   (change.why.empty() ? "" : " (" + change.why + ")"));
    }
    log_change(record_, std::move(change));
}

}  // namespace mutirao::mpi
