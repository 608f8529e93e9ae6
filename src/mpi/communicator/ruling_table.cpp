#include "mpi/communicator/ruling_table.h"

#include <algorithm>
#include <iterator>

#include "core/text/invariant.h"

namespace mutirao::mpi {
namespace {

constexpr std::size_t most_rulings_remembered = 16;

}  // namespace

const RulingTable::Entry* RulingTable::entry_for(const CallShape& shape) const {
    ShapeClass shapes = class_of(shape);
    auto found = entries_.find(shapes);
    if (found == entries_.end()) {
        shapes.root = any_root;
        found = entries_.find(shapes);
    }
    return found == entries_.end() ? nullptr : &found->second;
}

ClassRecord& RulingTable::class_record(const CallShape& shape, std::uint64_t call) {
    const std::lock_guard lock(record_.mutex);
    const ShapeClass shapes = class_of(shape);
    const auto [entry, fresh] = record_.classes.try_emplace(shapes);
    if (fresh) {
        entry->second.shapes = shapes;
        entry->second.length_bytes = shape.length_bytes;
        entry->second.first_call = call;
    }
    return entry->second;
}

const RulingTable::Way& RulingTable::look_up(const CallShape& shape, std::uint64_t call,
                                             Way& recent) {
    const Entry* const entry = entry_for(shape);
    ClassRecord& record = class_record(shape, call);
    recent = {shape, nullptr, &record.native_calls, entry != nullptr};
    if (entry != nullptr && !entry->ruling.candidate.algorithm->native()) {
        recent.execution = &execution_for(*entry, shape);
        recent.calls = &entry->record->calls;
    }
    return recent;
}

Execution& RulingTable::execution_for(const Entry& entry, const CallShape& shape) {
    const PlanKey key{entry.number, shape.root, shape.length_bytes};
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
    auto plan = std::make_shared<const Plan>(*schedule, entry.transport, members_.twin_rank_of);
    make_room(plan->memory_bytes());
    plan_bytes_ += plan->memory_bytes();
    plans_.push_front({key, Execution(std::move(plan))});
    plan_of_.emplace(key, plans_.begin());
    return plans_.front().execution;
}

// The least recently used go; shapes that are run by one of them are looked up anew.
void RulingTable::make_room(std::size_t bytes) {
    while (!plans_.empty() &&
           (plans_.size() >= most_plans || plan_bytes_ + bytes > most_plan_bytes)) {
        for (Way& recent : recent_) {
            if (recent.execution == &plans_.back().execution) {
                recent = {};
            }
        }
        plan_bytes_ -= plans_.back().execution.plan().memory_bytes();
        plan_of_.erase(plans_.back().key);
        plans_.pop_back();
    }
}

void RulingTable::take(const Ruling& ruling, std::uint64_t call, RulingRecord explained,
                       const Transport& transport) {
    for (Way& recent : recent_) {
        recent = {};
    }
    const std::lock_guard lock(record_.mutex);
    const auto [row, fresh] = record_.classes.try_emplace(ruling.shapes);
    ClassRecord& of_class = row->second;
    if (fresh) {
        of_class.shapes = ruling.shapes;
        of_class.first_call = call;
    }
    explained.first_call = call;
    explained.chosen = to_string(ruling.candidate);
    of_class.rulings.push_back(std::move(explained));
    if (of_class.rulings.size() > most_rulings_remembered) {
        of_class.rulings.pop_front();
    }
    entries_[ruling.shapes] = {ruling, &of_class.rulings.back(), transport, ++number_};
    if (!record_.first_ruled_call && !ruling.candidate.algorithm->native()) {
        record_.first_ruled_call = call;
    }
}

}  // namespace mutirao::mpi
