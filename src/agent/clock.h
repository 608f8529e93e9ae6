// The clocks of an agent. What decides takes the time as an argument; only the loop reads these.
#pragma once

#include <ctime>

#include <cstdint>

namespace mutirao::agent {

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

}  // namespace mutirao::agent
