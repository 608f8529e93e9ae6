#include "mpi/communicator/ruling_table.h"

#include "core/algorithms/over_placement.h"
#include "core/text/units.h"
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
        const auto found = classes_.find(shapes);
        if (found == classes_.end() || !found->second.entry) {
            continue;
        }
        const bool narrows = shapes.length_class == any_length &&
                             exact.length_class != any_length && is_told_apart(exact);
        return narrows ? &narrow(*found->second.entry, shape, call) : &*found->second.entry;
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
    return classes_[class_of(shape)].entry.emplace(std::move(narrowed));
}

bool RulingTable::is_told_apart(const ShapeClass& shapes) const {
    const std::lock_guard lock(record_.mutex);
    return record_.classes.size() < most_classes || record_.classes.contains(shapes);
}

ClassRecord& RulingTable::class_record(const CallShape& shape, std::uint64_t call) {
    const ShapeClass shapes = class_of(shape);
    if (!is_told_apart(shapes)) {
        return record_.other_classes;
    }
    const std::lock_guard lock(record_.mutex);
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
    const ShapeClass shapes = class_of(shape);
    const Entry* const entry = entry_for(shape, call);
    ClassRecord& record = class_record(shape, call);
    const Runner by = entry == nullptr ? Runner{} : runner_for(*entry, shape);  // which may forget all recent ways
    recent = {shape, by, by.native() ? &record.native_calls : &entry->record->calls, entry != nullptr};
    if (is_told_apart(shapes)) {
        recent.of_class = &classes_[shapes];
        recent.course = course_of(shapes, *recent.of_class, recent.ruled);
    }
    return recent;
}

// Calls that are ruled for all lengths at once are not compared with each other.
RulingTable::ClassCourse* RulingTable::course_of(const ShapeClass& shapes, Class& of_class, bool ruled) {
    if (!of_class.course && !ruled && clocks_) {
        of_class.course.emplace(shapes);
    }
    return of_class.course && of_class.course->clocks() ? &*of_class.course : nullptr;
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
    for (auto& [shapes, each] : classes_) {
        if (each.course && each.course->has_untold()) {
            reports.push_back(each.course->take_report());
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
        const auto found = classes_.find(shapes);
        if (found != classes_.end() && found->second.course) {
            times.push_back({shapes, of_class.native_calls, found->second.course->untold_us()});
        }
    }
    return times;
}

Runner RulingTable::runner_for(const Entry& entry, const CallShape& shape) {
    const Algorithm& algorithm = *entry.ruling.arm.candidate.algorithm;
    return algorithm.has_schedule() ? Runner{&plan_for(entry, shape)}
                                    : Runner{nullptr, native_composition(algorithm)};
}

// Where there are too many all are made anew: who makes calls of ever other lengths repeats none.
const Plan& RulingTable::plan_for(const Entry& entry, const CallShape& shape) {
    PlanKey key{entry.number, shape.root, shape.length_bytes, shape.unit_bytes, shape.lengths};
    if (const auto found = plans_.find(key); found != plans_.end()) {
        return found->second;
    }
    const Composer composer(entry.ruling.arm.candidate, shape, *members_.placement, entry.ruling.arm.tree_or_null());
    const bool lengths_are_room = row_of(shape.collective).in_blocks == InBlocks::own;
    Plan made(composer.part_of(members_.my_rank, shape), entry.transport, members_, lengths_are_room);
    if (connections_ != nullptr) {
        connections_->open_along(made);
    }
    const std::size_t bytes = sizeof key + key.lengths.size() * sizeof(std::size_t) + made.memory_bytes();
    if (plan_bytes_ + bytes > most_plan_bytes) {
        forget_recent();
        plans_.clear();
        plan_bytes_ = 0;
    }
    plan_bytes_ += bytes;
    return plans_.emplace(std::move(key), std::move(made)).first->second;
}

void RulingTable::take(const Ruling& ruling, std::uint64_t call, RulingRecord explained,
                       const Transport& transport) {
    forget_recent();
    explained.first_call = call;
    explained.chosen = to_string(ruling.arm.candidate);
    if (ruling.arm.tree && ruling.arm.tree->size() == members_.placement->host_count()) {
        explained.tree = ruling.arm.tree->parent;  // not one of ranks
    }
    const std::lock_guard lock(record_.mutex);
    log_if_changed(ruling, explained);
    if (!record_.first_ruled_call && !(ruling.arm.candidate.native() && !ruling.probe)) {
        record_.first_ruled_call = call;
    }
    const ShapeClass& shapes = ruling.shapes;
    const bool of_many_classes = shapes.length_class == any_length &&
                                 row_of(shapes.collective).in_blocks != InBlocks::own;
    if (of_many_classes) {
        for (auto& [other, each] : classes_) {
            if (other.collective == shapes.collective && other.root == shapes.root && other.commutes == shapes.commutes) {
                each.entry.reset();
            }
        }
        for_any_length_.push_back(std::move(explained));
        classes_[shapes].entry = {ruling, &for_any_length_.back(), transport, ++number_};
        return;
    }
    Class& of_class = classes_[shapes];
    std::optional<Entry>& entry = of_class.entry;
    if (entry && entry->ruling.arm == ruling.arm) {
        entry->ruling = ruling;
    } else {
        entry = {ruling, &add_ruling(class_record(shapes, call), std::move(explained)), transport, ++number_};
    }
    begin_course(of_class, ruling);
}

void RulingTable::begin_course(Class& of_class, const Ruling& ruling) {
    if (of_class.course && of_class.course->has_untold()) {
        untold_.push_back(of_class.course->take_report());
    }
    of_class.course.reset();
    if (ruling.id == 0 || ruling.clocking.samples() == 0) {
        return;
    }
    ClassCourse& course = of_class.course.emplace(ruling);
    if (ruling.probe) {
        course.probe = Entry{{ruling.shapes, *ruling.probe}, of_class.entry->record, of_class.entry->transport, ++number_};
    }
}

// A ruling by which calls are only clocked anew runs no call otherwise.
void RulingTable::log_if_changed(const Ruling& ruling, const RulingRecord& explained) {
    const std::optional<Entry>& present = classes_[ruling.shapes].entry;
    const std::string from = present ? present->record->chosen : "native";
    const bool another_tree = present && present->ruling.arm.candidate == ruling.arm.candidate &&
                              present->ruling.arm.tree != ruling.arm.tree;
    ChoiceChange change{ruling.shapes.collective, explained.first_call, explained.chosen};
    std::string said = another_tree ? "the same over another tree" : change.to;
    if (ruling.probe) {
        change.to = to_string(ruling.probe->candidate);
        change.probe_calls = std::uint64_t{ruling.clocking.probe} * ruling.clocking.calls_per_sample;
        change.lead_calls = std::uint64_t{ruling.clocking.lead} * ruling.clocking.calls_per_sample;
        said = change.to + " for " + counted(change.probe_calls, "call");
    } else if (from == change.to && !another_tree) {
        return;
    }
    say(2, title_of(record_) + ": from call " + std::to_string(change.call + 1) + " on, " +
               name_of(record_, ruling.shapes) + ": " + from + " -> " + said +
               (explained.reason.empty() ? "" : " (" + explained.reason + ")"));
    log_change(record_, std::move(change));
}

}  // namespace mutirao::mpi
