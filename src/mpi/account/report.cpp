#include "mpi/account/report.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>

#include "core/text/units.h"
#include "mpi/base/environment.h"
#include "mpi/base/runtime.h"
#include "mpi/job/job.h"

namespace mutirao::mpi {
namespace {

bool write_to(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();  // which may be told only then that there was no room
    return file.good();
}

std::string wanted_file(const std::string& report) { return report + ".wanted"; }

bool tells_anything(const Settings& settings) {
    return settings.explain || settings.summary || !settings.report.empty();
}

void tell(const Settings& settings, const Job* job) {
    if (!settings.report.empty()) {
        if (!write_to(settings.report, report_json(job, false))) {
            std::fprintf(stderr, "mutirao: cannot write the report %s: %s\n",
                         settings.report.c_str(), std::strerror(errno));
        }
        unlink(wanted_file(settings.report).c_str());
    }
    if (settings.explain) {
        const std::string text = explanation(job);
        std::fwrite(text.data(), 1, text.size(), stderr);
    } else if (settings.summary) {
        write_line(summary(job));
    }
}

// At the end of a process without MPI_Init; its launcher knows its rank.
void tell_without_job() { tell(settings_of_environment(), nullptr); }

std::atomic<bool> told{false};

}  // namespace

void write_report(const Job* job) {
    if (rank_in(MPI_COMM_WORLD) == 0 && !told.exchange(true)) {
        tell(runtime().settings, job);
    }
}

void answer_request() {
    const std::string& report = runtime().settings.report;
    const Job* const job = Job::current();
    if (report.empty() || job == nullptr || job->my_rank() != 0 || access(wanted_file(report).c_str(), F_OK) != 0) {
        return;
    }
    // Under its name only once it is whole; the asker takes a request that is gone for answered.
    const std::string answer = report + ".now";
    const std::string unfinished = answer + ".new";
    if (write_to(unfinished, report_json(job, true))) {
        std::rename(unfinished.c_str(), answer.c_str());
    }
    unlink(wanted_file(report).c_str());
}

void note_native_call() {
    static std::atomic<bool> noted{false};
    if (noted.load(std::memory_order_relaxed) || noted.exchange(true)) {
        return;
    }
    int initialised = 0;
    PMPI_Initialized(&initialised);
    if (initialised == 0 && tells_anything(settings_of_environment()) && speaks_for_job()) {
        std::atexit(tell_without_job);
    }
}

namespace {

// A screen of it; the report has the rest.
constexpr std::size_t most_explained = 8, most_kinds_explained = 20;

/// Two digits of the error, and as many decimals of the value.
std::string with_error(double value, double error) {
    char text[64];
    const int decimals = error >= 0.1 ? 1 : 2;
    std::snprintf(text, sizeof text, "%.*f ± %.*f", decimals, value, decimals, error);
    return text;
}

/// Why nothing can be said; empty: something can.
std::string why_unknown(const Sums& sums) {
    constexpr double most_unknown_share = 0.1;
    const double ruled_calls = static_cast<double>(sums.own_calls - sums.probe_calls);
    if (sums.account.took_us <= 0) return "nothing was compared with the MPI library's own";
    if (static_cast<double>(sums.account.unknown_calls) <= most_unknown_share * ruled_calls) return {};
    return "of " + std::to_string(sums.account.unknown_calls) +
           " calls nothing says what the MPI library's own would have taken";
}

std::string verdict_of(const Total& total) {
    if (!total.net_us) return "whether it saved time is not known: " + why_unknown(total.sums);
    const std::optional<bool> faster = total.faster();
    if (!faster) return "as fast as the MPI library's own";
    const double took_us = total.sums.account.took_us;
    return (*faster ? "collectives " + with_error(1 + *total.net_us / took_us, total.error_us / took_us) +
                          " times as fast, " + short_duration(*total.net_us) + " saved"
                    : short_duration(-*total.net_us) + " slower") +
           " on each rank (measured, net of what it cost)";
}

std::string what_ran_by(const Total& total) {
    const Sums& sums = total.sums;
    const std::string why = !sums.enabled           ? "switched off by the setting enabled"
                            : sums.why_native.empty() ? "their messages were empty"
                                                      : sums.why_native;
    const std::string of_all = " of " + counted(sums.calls, "collective call");
    if (sums.own_calls > sums.probe_calls) {
        return verdict_of(total) + "; " + std::to_string(sums.own_calls) + of_all + " ran by its algorithms" +
               (sums.probe_calls > 0 ? ", " + std::to_string(sums.probe_calls) + " of them on probe" : "");
    }
    if (sums.own_calls > 0) {
        return std::to_string(sums.calls - sums.own_calls) + of_all + " ran natively, by the MPI library: " + why +
               "; " + std::to_string(sums.own_calls) + " tried out algorithms of mutirao's" +
               (sums.account.probes_us > 0 ? ", which took " + short_duration(sums.account.probes_us) + " longer" : "");
    }
    if (sums.calls > 0) {
        return (sums.calls == 1 ? "the 1 collective call" : "all " + counted(sums.calls, "collective call")) +
               " ran natively, by the MPI library: " + why;
    }
    return sums.why_native.empty()
               ? "the program made no collective call that mutirao handles"
               : "all collective calls ran natively, by the MPI library: " + why;
}

/// What ran a kind of calls, and what for.
std::string line_of(const ShapeClass& shapes, const ClassRecord& of_class) {
    std::string line = "    " + name_of(shapes, of_class.length_bytes) + ": " +
                       std::to_string(of_class.native_calls) + " by the MPI library, " +
                       std::to_string(own_calls(of_class)) + " by mutirao";
    if (const RulingRecord* const choice = last_choice(of_class)) {
        line += "; " + choice->chosen + (choice->reason.empty() ? "" : " (" + choice->reason + ")");
    }
    return line + "\n";
}

}  // namespace

Total::Total(Sums all, double start) : sums(std::move(all)), start_ms(start) {
    constexpr double least_error = 0.005;  // of what calls took
    const Account& account = sums.account;
    if (why_unknown(sums).empty()) {
        net_us = account.net_us() - 1000 * (start_ms + sums.waited_ms);
        error_us = std::max(account.error_us, least_error * account.took_us);
    }
    what_ran = what_ran_by(*this);
}

std::optional<bool> Total::faster() const {
    return net_us && std::abs(*net_us) > error_us ? std::optional(*net_us > 0) : std::nullopt;
}

std::string Total::line() const {
    std::string line = "mutirao: " + what_ran + "; its start took " + short_duration(1000 * start_ms);
    if (sums.waited_ms > 0) {
        line += ", and calls waited " + short_duration(waited_us()) + " for it";
    }
    if (sums.forgotten_communicators > 0) {
        line += "; of " + counted(sums.forgotten_communicators, "communicator") + " only the sums are kept";
    }
    return line + "\n";
}

Total total_of(const Job& job) {
    Records& all = records();
    const std::lock_guard lock(all.mutex);
    Sums sums = all.forgotten;
    sums.enabled = runtime().settings.enabled;
    for (const auto& record : all.kept) {
        const std::lock_guard record_lock(record->mutex);
        sums.add(*record);
    }
    return {std::move(sums), job.start_cost().sum_ms()};
}

std::string summary(const Job* job) {
    return job != nullptr ? total_of(*job).line()
                          : "mutirao: the MPI library took all calls: " + Job::why_native() + "\n";
}

std::string explanation(const Record& record) {
    std::string text = "  " + title_of(record) + (record.hosts > 0 ? " on " + counted(static_cast<std::size_t>(record.hosts), "host") : "");
    if (record.native) {
        return text + ", left to the MPI library: " + record.reason + "\n";
    }
    text += ", " + counted(record.calls, "call") + "; " + why_not_ruled(record) + "\n";
    std::size_t shown = 0;
    for (const auto& [shapes, of_class] : record.classes) {
        if (++shown > most_kinds_explained) {
            return text + "    " + counted(record.classes.size() - most_kinds_explained, "more kind") + " of calls\n";
        }
        text += line_of(shapes, of_class);
    }
    return text;
}

std::string explanation(const Job* job) {
    std::string text = summary(job);
    Records& all = records();
    const std::lock_guard lock(all.mutex);
    std::size_t shown = 0;
    for (const auto& record : all.kept) {
        if (++shown > most_explained) {
            return text + "  " + counted(all.kept.size() - most_explained, "more communicator") + "\n";
        }
        const std::lock_guard record_lock(record->mutex);
        text += explanation(*record);
    }
    return text;
}

}  // namespace mutirao::mpi
