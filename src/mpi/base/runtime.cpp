#include "mpi/base/runtime.h"

#include <dlfcn.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "core/text/bytes.h"
#include "mpi/base/environment.h"
#include "mpi/base/world.h"

namespace mutirao::mpi {
namespace {

// What sites and their module files set for any package, and what the launcher says; no settings. The command line
// passes over them, too (python/mutirao/run/user_settings.py).
bool is_of_a_site(std::string_view entry) {
    return std::ranges::any_of(
        std::to_array<std::string_view>({"MUTIRAO_HOME=", "MUTIRAO_ROOT=", "MUTIRAO_DIR=", "MUTIRAO_VERSION=",
                                         "MUTIRAO_LAUNCH=", "MUTIRAO_RENDEZVOUS="}),
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

// Equal settings in another spelling hash differently, which only costs the speed-up.
std::uint64_t hash_of(const std::vector<std::string>& entries) {
    std::string text;
    for (const std::string& entry : entries) {
        if (!may_differ_between_ranks(entry)) {
            text += entry + '\n';
        }
    }
    return fnv1a(std::as_bytes(std::span(text)));
}

const ParsedSettings& parsed_settings() {
    static const auto& parsed = *new ParsedSettings(parse_environment(own_environment()));
    return parsed;
}

Runtime* make_runtime() {
    check_settings();
    auto* made = new Runtime;  // lives as long as the process: MPI may call back very late
    made->settings = parsed_settings().settings;
    made->profile = profile::ProfileStore::open(profile::profile_path(made->settings.profile));
    made->settings_hash = hash_of(own_environment());
    return made;
}

}  // namespace

const Runtime& runtime() {
    static const Runtime* const only = make_runtime();
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

namespace {

constexpr int level_of_every_rank = 3;
constexpr int most_lines = 4096;

int rank_in_job() {
    static const int known = rank_in(MPI_COMM_WORLD);
    return known;
}

std::string short_host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::string whole(name.data());
    return whole.substr(0, whole.find('.'));
}

bool is_verbose(int level) {
    return settings_of_environment().verbose >= level &&
           (level >= level_of_every_rank || rank_in_job() == 0);
}

}  // namespace

void say(int level, const std::string& what) {
    if (!is_verbose(level)) {
        return;
    }
    static const auto& prefix =
        *new std::string("[" + short_host_name() + ":" + std::to_string(rank_in_job()) + "] mutirao: ");
    static std::atomic<int> lines{0};
    const int number = lines.fetch_add(1);
    if (number < most_lines) {
        write_line(prefix + what + "\n");
    } else if (number == most_lines) {
        write_line(prefix + "so many lines are enough, there are no more of this rank\n");
    }
}

void say_what_is_loaded() {
    if (!is_verbose(1)) {
        return;
    }
    say(1, "version " MUTIRAO_VERSION ", " + object_file_of(reinterpret_cast<const void*>(&say_what_is_loaded)));
    say(1, "MPI library " + library_version() + ", " +
               object_file_of(next_function("PMPI_Get_library_version")));
}

namespace {

void* (*next_in_program)(const char* name) = nullptr;

}  // namespace

void* next_function(const char* name) {
    return next_in_program == nullptr ? dlsym(RTLD_NEXT, name) : next_in_program(name);
}

void write_line(std::string line) {
    if (line.size() > PIPE_BUF) {
        line.resize(PIPE_BUF - 4);
        line += "...\n";
    }
    while (write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
    }
}

}  // namespace mutirao::mpi

extern "C" __attribute__((visibility("default"))) void mutirao_bind(void* (*next)(const char*)) {
    mutirao::mpi::next_in_program = next;
}
