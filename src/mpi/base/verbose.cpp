#include "mpi/base/verbose.h"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>

#include "mpi/base/launch.h"
#include "mpi/base/mpi_environment.h"
#include "mpi/base/native.h"
#include "mpi/base/runtime.h"

namespace mutirao::mpi {
namespace {

constexpr int level_of_every_rank = 3;
constexpr int most_lines = 4096;

int rank_in_job() {
    static const int known = [] {
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }();
    return known;
}

std::string short_host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::string whole(name.data());
    return whole.substr(0, whole.find('.'));
}

}  // namespace

bool is_verbose(int level) {
    return settings_of_environment().verbose >= level &&
           (level >= level_of_every_rank || rank_in_job() == 0);
}

void say(int level, const std::string& what) {
    if (!is_verbose(level)) {
        return;
    }
    static const std::string prefix =
        "[" + short_host_name() + ":" + std::to_string(rank_in_job()) + "] mutirao: ";
    static std::atomic<int> lines{0};
    const int number = lines.fetch_add(1);
    if (number < most_lines) {
        write_line(STDERR_FILENO, prefix + what + "\n");
    } else if (number == most_lines) {
        write_line(STDERR_FILENO, prefix + "so many lines are enough, there are no more of this rank\n");
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

void write_line(int file, std::string line) {
    if (line.size() > PIPE_BUF) {
        line.resize(PIPE_BUF - 4);
        line += "...\n";
    }
    while (write(file, line.data(), line.size()) < 0 && errno == EINTR) {
    }
}

}  // namespace mutirao::mpi
