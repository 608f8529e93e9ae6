#include "mpi/explanation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/text/counted.h"
#include "core/text/milliseconds.h"
#include "mpi/communicator/record_text.h"
#include "mpi/job/job.h"
#include "mpi/report.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

// A screen of it; the report has the rest.
constexpr std::size_t most_explained = 8, most_kinds_explained = 20, most_changes_explained = 20;

using Cells = std::array<std::string, 8>;
const Cells heads = {"calls of", "native", "mutirao", "predicted", "measured", "native takes", "bound",
                     "saved on a rank"};

std::string predicted(const RulingRecord& choice, const std::string& candidate) {
    for (const Evaluated& each : choice.considered) {
        if (to_string(each.candidate) == candidate) {
            return duration(each.predicted_us);
        }
    }
    return "";
}

std::string measured(const RulingRecord& choice, const std::string& candidate) {
    for (const Measured& each : choice.measured) {
        if (to_string(each.candidate) == candidate) {
            return duration(each.time_us.median) + " (" + duration(each.time_us.low) + " to " +
                   duration(each.time_us.high) + ")";
        }
    }
    return "";
}

/// Net of probes.
std::string saved_text(const ClassRecord& of_class) {
    if (!of_class.account) {
        return "";
    }
    const Account& account = *of_class.account;
    const double net_us = account.saved_us - account.probes_us;
    if (net_us == 0) {
        return "";
    }
    const std::string error = account.error_us > 0 ? " ± " + short_duration(account.error_us) : "";
    return (net_us < 0 ? "-" : "") + short_duration(std::abs(net_us)) + error;
}

Cells row_of_table(const ClassRecord& of_class) {
    Cells row = {name_of(of_class.shapes, of_class.length_bytes),
                 std::to_string(of_class.native_calls), std::to_string(own_calls(of_class))};
    if (const RulingRecord* const choice = last_choice(of_class)) {
        const std::string& chosen = choice->chosen;
        const std::string native_took = measured(*choice, "native");
        const std::string native_predicted = predicted(*choice, "native");
        row[3] = predicted(*choice, chosen);
        row[4] = measured(*choice, chosen);
        row[5] = !native_took.empty()        ? native_took
                 : native_predicted.empty() ? ""
                                            : native_predicted + ", predicted";
        row[6] = choice->bound_us.value_or(0) > 0 ? duration(*choice->bound_us) : "";
    }
    row[7] = saved_text(of_class);
    return row;
}

std::string line_of(const Cells& row, const std::array<std::size_t, std::tuple_size_v<Cells>>& widths) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
        line += " " + row[i] + std::string(widths[i] - row[i].size() + 1, ' ');
    }
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string reason_of(const ClassRecord& of_class) {
    const RulingRecord* const choice = last_choice(of_class);
    if (choice == nullptr) {
        return "    native: no ruling was made\n";
    }
    const std::string why = choice->reason.empty() ? "decided on another rank" : choice->reason;
    return "    " + choice->chosen + ": " + why + "\n";
}

std::string table_of(const Record& record) {
    std::vector<Cells> rows = {heads};
    std::vector<const ClassRecord*> shown;
    for (const auto& [shapes, of_class] : record.classes) {
        if (shown.size() < most_kinds_explained) {
            rows.push_back(row_of_table(of_class));
            shown.push_back(&of_class);
        }
    }
    if (shown.empty()) {
        return "";
    }
    std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
    for (const Cells& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text = line_of(rows.front(), widths);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        text += line_of(rows[i + 1], widths) + reason_of(*shown[i]);
    }
    if (const std::size_t left = record.classes.size() - shown.size(); left > 0) {
        text += "  " + counted(left, "more kind") + " of calls\n";
    }
    return text;
}

std::string changes_of(const Record& record) {
    const std::size_t known = record.changes.size();
    const std::size_t left = known - std::min(known, most_changes_explained);
    std::string text;
    if (left + record.forgotten_changes > 0) {
        text += "  " + counted(left + record.forgotten_changes, "earlier change") + " of choice\n";
    }
    for (std::size_t i = left; i < known; ++i) {
        const ChoiceChange& each = record.changes[i];
        text += "  " + said_of(record, each) + "\n";
    }
    return text;
}

std::string start_of(const Job* job) {
    if (job == nullptr) {
        return "; all calls were the MPI library's: " + Job::why_native() + "\n";
    }
    const StartCost& cost = job->start_cost();
    return "; its start took " + duration(1000 * cost.sum_ms()) + "\n";
}

}  // namespace

std::string explanation(const Record& record) {
    std::string text = (record.name.empty() ? "communicator" : record.name) + ": " +
                       counted(static_cast<std::uint64_t>(record.ranks), "rank");
    if (record.hosts > 0) {
        text += " on " + counted(static_cast<std::uint64_t>(record.hosts), "host");
    }
    if (record.native) {
        return text + ", left to the MPI library: " + record.reason + "\n";
    }
    text += ", " + counted(record.calls, "call") + "; " +
            (record.reason.empty() ? "too few for anything else to pay" : record.reason) + "\n";
    if (!record.profile.empty()) {
        text += "  profile: " + record.profile + "\n";
    }
    return text + table_of(record) + changes_of(record);
}

std::string explanation(Runtime* runtime, const Job* job) {
    std::string text =
        std::string("mutirao " MUTIRAO_VERSION " over ") + library_version() + start_of(job);
    if (runtime == nullptr) {
        return text;
    }
    const std::lock_guard lock(runtime->mutex);
    std::uint64_t left = runtime->forgotten.forgotten_communicators;
    std::size_t shown = 0;
    for (const auto& record : runtime->records) {
        const std::lock_guard record_lock(record->mutex);
        if (shown == most_explained) {
            ++left;
            continue;
        }
        text += explanation(*record);
        ++shown;
    }
    return left == 0 ? text : text + counted(left, "more communicator") + "\n";
}

}  // namespace mutirao::mpi
