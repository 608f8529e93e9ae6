#include "mpi/account/report.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "mpi/base/launch.h"
#include "mpi/job/job.h"
#include "mpi/base/runtime.h"
#include "mpi/account/summary.h"
#include "mpi/base/verbose.h"

namespace mutirao::mpi {
namespace {

bool write_to(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    const bool written =
        file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file != nullptr && std::fclose(file) == 0;
    return written && closed;
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
        write_line(STDERR_FILENO, summary(job));
    }
}

// At the end of a process without MPI_Init; its launcher knows its rank.
void tell_without_job() { tell(settings_of_environment(), nullptr); }

std::atomic<bool> told{false};

}  // namespace

void write_report(const Job* job) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !told.exchange(true)) {
        tell(runtime().settings, job);
    }
}

void answer_request() {
    const std::string& report = runtime().settings.report;
    const Job* const job = Job::current();
    if (report.empty() || job == nullptr || job->my_rank() != 0 ||
        access(wanted_file(report).c_str(), F_OK) != 0) {
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

}  // namespace mutirao::mpi
