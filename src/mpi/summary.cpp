#include "mpi/summary.h"

#include <cmath>
#include <mutex>

#include "core/text/counted.h"
#include "core/text/milliseconds.h"
#include "mpi/job/job.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

/// Of a kind of calls of which the MPI library took at least some.
/// `tries`: what is predicted is tried out before it is believed.
std::string why_ruled_native(const Record& record, const ClassRecord& of_class, bool tries) {
    const bool decides_here = record.topology || record.adaptation.horizon_calls || record.adaptation.epochs == 0;
    if (record.topology == nullptr) {
        return decides_here ? "the program ended before the network was known" : "decided on another rank";
    }
    const RulingRecord* const choice = last_choice(of_class);
    if (choice == nullptr) {
        return "the program ended before a choice was made";
    }
    const bool untried = tries && of_class.rulings.empty() && choice->considered.size() > 1;
    if (!choice->settled || untried) {
        return "the program ended before other algorithms had been tried out";
    }
    const bool won = choice->chosen == "native" && choice->measured.size() > 1;
    return (record.hosts == 1 ? "on one host, " : "") + (won ? "native measured fastest" : choice->reason);
}

/// Of a communicator that mutirao did not take on.
std::string why_not_ruled(const Record& record) {
    return record.native ? record.reason : "the program ended before all ranks knew each other";
}

std::string gain(const Handled& handled) {
    const std::uint64_t left = handled.calls - handled.compared;
    if (handled.compared == 0) {
        return ": what the MPI library's own would have taken is not known";
    }
    const double saved_us = handled.saved_us();
    const std::string others = ", " + std::to_string(left) + " of them " +
                               (left == handled.on_trial ? "on trial" : "with nothing to compare with") +
                               "; the others took ";
    return (left > 0 ? others : ": ") + short_duration(handled.took_us) + " a rank instead of " +
           short_duration(handled.native_us) + " by the MPI library's own (" + how_known(handled) + "), " +
           short_duration(std::abs(saved_us)) + (saved_us < 0 ? " lost" : " saved");
}

std::string what_ran(const Sums& sums) {
    const Handled& handled = sums.handled;
    const std::string why = !sums.enabled           ? "switched off by the setting enabled"
                            : sums.why_native.empty() ? "their messages were empty"
                                                      : sums.why_native;
    const std::string of_all = " of " + counted(sums.calls, "collective call");
    if (handled.calls > handled.on_trial) {
        return std::to_string(handled.calls) + of_all + " ran by its algorithms" + gain(handled);
    }
    if (handled.calls > 0) {
        return std::to_string(sums.calls - handled.calls) + of_all + " ran natively, by the MPI library: " +
               why + "; the other " + std::to_string(handled.calls) +
               " tried out algorithms of mutirao's";
    }
    if (sums.calls > 0) {
        return (sums.calls == 1 ? "the 1 collective call" : "all " + counted(sums.calls, "collective call")) +
               " ran natively, by the MPI library: " + why;
    }
    return sums.why_native.empty()
               ? "the program made no collective call that mutirao handles"
               : "all collective calls ran natively, by the MPI library: " + why;
}

}  // namespace

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
        handled.add(handled_in(of_class));
        if (of_class.native_calls > most_native) {
            most_native = of_class.native_calls;
            why_native = why_ruled_native(record, of_class, tries);
        }
    }
}

std::string summary(const Sums& sums, double start_ms) {
    std::string line = "mutirao: " + what_ran(sums) + "; its start took " + short_duration(1000 * start_ms);
    if (sums.waited_ms > 0) {
        line += ", and calls waited " + short_duration(1000 * sums.waited_ms) + " for it";
    }
    if (sums.forgotten_communicators > 0) {
        line += "; without " + counted(sums.forgotten_communicators, "communicator") +
                " that are not remembered";
    }
    return line + "\n";
}

std::string summary(Runtime* runtime, const Job* job) {
    if (runtime == nullptr || job == nullptr) {
        return "mutirao: the MPI library took all calls: " + Job::why_native() + "\n";
    }
    Sums sums;
    sums.enabled = runtime->settings.enabled;
    sums.tries = runtime->settings.holds_trials();
    const std::lock_guard lock(runtime->mutex);
    for (const auto& record : runtime->records) {
        const std::lock_guard record_lock(record->mutex);
        sums.add(*record);
    }
    sums.forgotten_communicators = runtime->forgotten_records;
    const StartCost& cost = job->start_cost();
    return summary(sums, cost.twin_ms + cost.waited_ms);
}

}  // namespace mutirao::mpi
