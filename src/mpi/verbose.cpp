#include "mpi/verbose.h"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "mpi/interpose/native.h"
#include "mpi/interpose/object_file.h"
#include "mpi/report.h"
#include "mpi/runtime.h"

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

/// %r: the rank, %h: the host.
std::string own_file_name(std::string name) {
    const auto replace = [&name](const char* mark, const std::string& with) {
        for (std::size_t at = name.find(mark); at != name.npos; at = name.find(mark, at + with.size())) {
            name.replace(at, std::strlen(mark), with);
        }
    };
    replace("%r", std::to_string(rank_in_job()));
    replace("%h", short_host_name());
    return name;
}

int open_file() {
    const std::string& name = settings_of_environment().verbose_file;
    if (name.empty()) {
        return STDERR_FILENO;
    }
    const std::string own = own_file_name(name);
    const int file = open(own.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
        write_line(STDERR_FILENO, "mutirao: verbose_file " + own + " cannot be written (" +
                                      std::strerror(errno) + "), so its lines come here\n");
    }
    return file < 0 ? STDERR_FILENO : file;
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
    static const int file = open_file();
    static const std::string prefix =
        "[" + short_host_name() + ":" + std::to_string(rank_in_job()) + "] mutirao: ";
    static std::atomic<int> lines{0};
    const int number = lines.fetch_add(1);
    if (number < most_lines) {
        write_line(file, prefix + what + "\n");
    } else if (number == most_lines) {
        write_line(file, prefix + "so many lines are enough, there are no more of this rank\n");
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
