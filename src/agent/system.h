// What an agent asks of the system: the time, file descriptors.
#pragma once

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>

namespace mutirao::agent {

// The clocks of an agent. What decides takes the time as an argument; only the loop reads these.

inline constexpr std::int64_t ns_per_us = 1000;
inline constexpr std::int64_t ns_per_ms = 1'000'000;
inline constexpr std::int64_t ns_per_s = 1'000'000'000;
/// Later than any moment.
inline constexpr std::int64_t never_ns = INT64_MAX;

inline std::int64_t read_clock_ns(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * ns_per_s + time.tv_nsec;
}
inline std::int64_t now_ns() { return read_clock_ns(CLOCK_MONOTONIC); }
/// Since 1970; the clock of the kernel's time stamps.
inline std::int64_t wall_ns() { return read_clock_ns(CLOCK_REALTIME); }

/// New threads inherit the mask of signals: ours must not take those that are meant for the program.
class AllSignalsBlocked {
  public:
    AllSignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

  private:
    sigset_t before_;
};

/// A file descriptor that closes itself, also in children that the process forks: those that never call
/// exec would otherwise hold an agent's lock, ports and connections when the agent has long ended, and
/// an agent would go on to be woken for sockets that it has closed.
class File {
  public:
    explicit File(int number = -1);
    File(File&& other) noexcept
        : number_(std::exchange(other.number_, -1)), process_(other.process_) {}
    File& operator=(File&& other) noexcept {
        std::swap(number_, other.number_);
        std::swap(process_, other.process_);
        return *this;
    }
    ~File();

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_;
    unsigned process_;  ///< in a child, the number may have come to mean another file
};

}  // namespace mutirao::agent
