#include "agent/sensors/host_speed.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "agent/clock.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t values = (1 << 20) / sizeof(double);
constexpr double bytes = values * sizeof(double);
constexpr std::int64_t most_ns = 1'200 * ns_per_us;
constexpr int most_runs = 5;

/// The best of a few runs, for others may be at work on the processor: always one after the first, which
/// brings in the memory, and no more of them when time is up.
template <class Work>
double best_bytes_per_us(std::int64_t until_ns, Work work) {
    std::int64_t best_ns = INT64_MAX;
    for (int run = 0; run < most_runs && (run < 2 || now_ns() < until_ns); ++run) {
        const std::int64_t begin_ns = now_ns();
        work();
        best_ns = std::min(best_ns, std::max<std::int64_t>(now_ns() - begin_ns, 1));
    }
    return bytes * ns_per_us / static_cast<double>(best_ns);
}

}  // namespace

HostSpeed measure_host_speed() {
    const std::int64_t begin_ns = now_ns();
    std::vector<double> from(values, 1.0), to(values);
    double* const target = to.data();
    HostSpeed speed;
    speed.copy_bytes_per_us = best_bytes_per_us(begin_ns + most_ns / 2, [&] {
        std::memcpy(target, from.data(), values * sizeof(double));
        asm volatile("" : : "r"(target) : "memory");  // somebody may look at it
    });
    speed.reduce_bytes_per_us = best_bytes_per_us(begin_ns + most_ns, [&] {
        for (std::size_t i = 0; i < values; ++i) target[i] += from[i];
        asm volatile("" : : "r"(target) : "memory");
    });
    return speed;
}

}  // namespace mutirao::agent
