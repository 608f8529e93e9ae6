#include "mpi/account/record.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/units.h"

namespace mutirao::mpi {

void take_up(Record& record, std::uint64_t call, std::shared_ptr<const Topology> newest) {
    constexpr std::size_t most_taken_up = 256;
    const std::shared_ptr<const Topology> before = std::exchange(record.topology, std::move(newest));
    if (!before || before->spanning_tree.empty()) {
        return;
    }
    const Topology& after = *record.topology;
    TakenUp taken;
    taken.call = call;
    taken.new_tree = after.spanning_tree != before->spanning_tree;
    const int hosts = after.network.host_count();
    for (int low = 0; low < hosts; ++low) {
        for (int high = low + 1; high < hosts; ++high) {
            const double before_us = before->network.link(low, high).latency_us;
            const double after_us = after.network.link(low, high).latency_us;
            if (before_us == after_us) {
                continue;
            }
            ++taken.links;
            if (taken.shown.size() < TakenUp::most_shown) {
                taken.shown.push_back({low, high, before_us, after_us});
            }
        }
    }
    if (taken.links == 0 && !taken.new_tree) {
        return;
    }
    std::vector<TakenUp>& all = record.adaptation.taken_up;
    all.push_back(std::move(taken));
    if (all.size() > most_taken_up) {
        all.erase(all.begin());
    }
}

std::uint64_t own_calls(const ClassRecord& of_class) {
    std::uint64_t calls = of_class.forgotten_calls;
    for (const RulingRecord& ruling : of_class.rulings) {
        calls += as_of_now(ruling.calls) + as_of_now(ruling.probe_calls);
    }
    return calls;
}

std::uint64_t probe_calls(const ClassRecord& of_class) {
    std::uint64_t calls = 0;
    for (const RulingRecord& ruling : of_class.rulings) {
        calls += as_of_now(ruling.probe_calls);
    }
    return calls;
}

RulingRecord* last_choice(ClassRecord& of_class) {
    return const_cast<RulingRecord*>(last_choice(std::as_const(of_class)));
}

const RulingRecord* last_choice(const ClassRecord& of_class) {
    if (!of_class.rulings.empty()) {
        return &of_class.rulings.back();
    }
    return of_class.native_choice ? &*of_class.native_choice : nullptr;
}

RulingRecord& add_ruling(ClassRecord& of_class, RulingRecord ruling) {
    constexpr std::size_t most_rulings = 16;
    if (!ruling.tree.empty()) {
        for (RulingRecord& earlier : of_class.rulings) {
            earlier.tree.clear();  // as long as there are hosts
        }
    }
    of_class.rulings.push_back(std::move(ruling));
    if (of_class.rulings.size() > most_rulings) {
        const auto second = std::next(of_class.rulings.begin());
        of_class.forgotten_calls += second->calls + second->probe_calls;
        of_class.rulings.erase(second);
        ++of_class.forgotten_rulings;
    }
    return of_class.rulings.back();
}

void log_change(Record& record, ChoiceChange change) {
    constexpr std::size_t most_changes = 4096;
    record.changes.push_back(std::move(change));
    if (record.changes.size() > most_changes) {
        record.changes.erase(record.changes.begin() + most_changes / 2);
        ++record.forgotten_changes;
    }
}

std::string name_of(const ShapeClass& shapes, std::size_t length_bytes) {
    const CollectiveRow& row = row_of(shapes.collective);
    std::string name(row.name);
    if (shapes.length_class != any_length && shapes.collective != Collective::barrier) {
        name += " of " + size_text(length_bytes);
    }
    if (row.rooted && shapes.root != any_root) {
        name += ", root " + std::to_string(shapes.root);
    }
    return name + (shapes.commutes ? "" : ", in order");
}

std::string name_of(const Record& record, const ShapeClass& shapes) {
    const auto of_class = record.classes.find(shapes);
    return name_of(shapes, of_class == record.classes.end() ? 0 : of_class->second.length_bytes);
}

std::string title_of(const Record& record) {
    return (record.name.empty() ? "communicator" : record.name) + " (" +
           counted(static_cast<std::uint64_t>(record.ranks), "rank") + ")";
}

std::string why_ruled_native(const Record& record, const ClassRecord& of_class) {
    const bool decides_here = record.topology || record.adaptation.horizon_calls || record.adaptation.epochs == 0;
    if (record.topology == nullptr) {
        return decides_here ? "the program ended before the network was known" : "decided on another rank";
    }
    const RulingRecord* const choice = last_choice(of_class);
    if (choice == nullptr) {
        return "the program ended before a choice was made";
    }
    if (!choice->settled) {
        return "the program ended before other algorithms had been tried out";
    }
    const bool won = choice->chosen == "native" && choice->measured.size() > 1;
    return (record.hosts == 1 ? "on one host, " : "") + (won ? "native measured fastest" : choice->reason);
}

std::string why_not_ruled(const Record& record) {
    return record.reason.empty() ? "they were too few for anything else to pay" : record.reason;
}

void Sums::add(const Record& record) {
    calls += record.native ? 0 : record.calls;
    const AdaptationRecord& adaptation = record.adaptation;
    waited_ms += adaptation.waited_ms + adaptation.early_waited_ms + adaptation.adapting_ms;
    if (!record.ruled) {
        if (record.calls >= most_native) {
            most_native = record.calls;
            why_native = why_not_ruled(record);
        }
        return;
    }
    for (const auto& [shapes, of_class] : record.classes) {
        own_calls += mutirao::mpi::own_calls(of_class);
        probe_calls += mutirao::mpi::probe_calls(of_class);
        account.add(of_class.account.value_or(Account{}));
        if (const std::uint64_t natively = as_of_now(of_class.native_calls); natively > most_native) {
            most_native = natively;
            why_native = why_ruled_native(record, of_class);
        }
    }
}

Records& records() {
    static Records* const only = new Records;  // lives as long as the process: MPI may call back very late
    return *only;
}

void remember(const std::shared_ptr<Record>& record, bool of_world) {
    Records& all = records();
    const std::lock_guard lock(all.mutex);
    all.kept.insert(of_world ? all.kept.begin() : all.kept.end(), record);
}

void note_end(Record& record) {
    constexpr std::size_t most_records = 64;
    constexpr std::size_t always_kept = 8;  // the first ones matter most
    Records& all = records();
    const std::lock_guard lock(all.mutex);
    record.ended = true;
    if (all.kept.size() <= most_records) {
        return;
    }
    const auto oldest = std::find_if(std::next(all.kept.begin(), always_kept), all.kept.end(),
                                     [](const auto& each) { return each->ended; });
    if (oldest == all.kept.end()) {
        return;
    }
    const std::shared_ptr<Record> forgotten = *oldest;
    all.kept.erase(oldest);
    const std::lock_guard record_lock(forgotten->mutex);
    all.forgotten.add(*forgotten);
    ++all.forgotten.forgotten_communicators;
}

}  // namespace mutirao::mpi
