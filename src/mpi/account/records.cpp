#include "mpi/account/records.h"

#include <algorithm>
#include <iterator>

namespace mutirao::mpi {

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
        if (of_class.account) {
            compared = true;
            account.add(*of_class.account);
        }
        if (of_class.native_calls > most_native) {
            most_native = of_class.native_calls;
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
