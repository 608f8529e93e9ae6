#include "mpi/runtime.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "core/text/hash.h"
#include "mpi/communicator/registry.h"
#include "mpi/executor/datatype.h"
#include "mpi/interpose/launch_rank.h"
#include "mpi/job/ends_within.h"
#include "mpi/job/job.h"
#include "mpi/report.h"
#include "mpi/rulings/deciding_thread.h"
#include "profile/this_host.h"

namespace mutirao::mpi {
namespace {

// What sites and their module files set for any package, and what the launcher says; no settings. The command line
// passes over them, too
// (python/mutirao/run/user_settings.py).
bool is_of_a_site(std::string_view entry) {
    return std::ranges::any_of(
        std::to_array<std::string_view>({"MUTIRAO_HOME=", "MUTIRAO_ROOT=", "MUTIRAO_DIR=", "MUTIRAO_VERSION=", "MUTIRAO_LAUNCH="}),
        [&](std::string_view name) { return entry.starts_with(name); });
}

std::vector<std::string> own_environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::string_view(*entry).starts_with("MUTIRAO_") && !is_of_a_site(*entry)) {
            entries.emplace_back(*entry);
        }
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

// Equal settings in another spelling hash differently, which only costs the speed-up. What is said and
// where concerns the rank that says it, which profile is used deciders, and whether a rank is switched off
// is told apart.
bool may_differ(std::string_view entry) {
    return std::ranges::any_of(
        std::to_array<std::string_view>({"MUTIRAO_REPORT=", "MUTIRAO_EXPLAIN=", "MUTIRAO_SUMMARY=",
                                         "MUTIRAO_VERBOSE=", "MUTIRAO_PROFILE=",
                                         "MUTIRAO_ENABLED="}),
        [&](std::string_view name) { return entry.starts_with(name); });
}

std::uint64_t hash_of(const std::vector<std::string>& entries) {
    std::string text;
    for (const std::string& entry : entries) {
        if (!may_differ(entry)) {
            text += entry + '\n';
        }
    }
    return fnv1a(std::as_bytes(std::span(text)));
}

const ParsedSettings& parsed_settings() {
    static const ParsedSettings parsed = parse_environment(own_environment());
    return parsed;
}

// Runs at the beginning of MPI_Finalize, wherever that is called from (MPI 4.0, 11.2.4).
int at_finalize(MPI_Comm, int, void*, void*) {
    static constexpr std::chrono::milliseconds with_other_jobs{200};  // that write the profile
    constexpr std::chrono::milliseconds with_files{2000};
    DecidingThread::end(with_files);
    Job* const job = Job::retire();
    end_communicators();
    if (const auto profile = runtime().profile; profile && profile->has_unwritten()) {
        ends_within(with_files, [profile] { profile->flush(with_other_jobs); });
    }
    if (job != nullptr) {
        job->finish();
    }
    write_report(runtime(), job);
    return MPI_SUCCESS;
}

Runtime* make_runtime() {
    check_settings();
    auto* made = new Runtime;  // lives as long as the process: MPI may call back very late
    made->settings = parsed_settings().settings;
    made->profile = profile::ProfileStore::open(profile::profile_path(made->settings.profile));
    made->settings_hash = hash_of(own_environment());
    made->communicator_key = make_communicator_key();
    made->datatype_key = make_datatype_key();
    int finalize_key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &finalize_key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, nullptr);
    return made;
}

}  // namespace

Runtime& runtime() {
    static Runtime* const only = make_runtime();
    return *only;
}

void check_settings() {
    const std::string& error = parsed_settings().error;
    if (error.empty()) {
        return;
    }
    if (speaks_for_job()) {
        std::fprintf(stderr, "mutirao: %s\n", error.c_str());
    }
    // A launcher ends the job at the first rank that ends, and may drop what it has not yet passed on.
    const timespec until_printed{0, 300'000'000};
    nanosleep(&until_printed, nullptr);
    std::_Exit(2);
}

const Settings& settings_of_environment() { return parsed_settings().settings; }

void remember(const std::shared_ptr<Record>& record, bool of_world) {
    Runtime& all = runtime();
    const std::lock_guard lock(all.mutex);
    all.records.insert(of_world ? all.records.begin() : all.records.end(), record);
}

void note_end(Record& record) {
    constexpr std::size_t most_records = 64;
    constexpr std::size_t always_kept = 8;  // the first ones matter most
    Runtime& all = runtime();
    const std::lock_guard lock(all.mutex);
    record.ended = true;
    if (all.records.size() <= most_records) {
        return;
    }
    const auto oldest = std::find_if(std::next(all.records.begin(), always_kept), all.records.end(),
                                     [](const auto& each) { return each->ended; });
    if (oldest == all.records.end()) {
        return;
    }
    const std::shared_ptr<Record> forgotten = *oldest;
    all.records.erase(oldest);
    const std::lock_guard record_lock(forgotten->mutex);
    all.forgotten.add(*forgotten);
    ++all.forgotten.forgotten_communicators;
}

int raise_on(MPI_Comm comm, int error) {
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

}  // namespace mutirao::mpi
