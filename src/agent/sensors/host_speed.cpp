#include "agent/sensors/host_speed.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
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

/// A word that threads look at, alone in its line of the cache.
struct alignas(64) Word {
    std::atomic<int> value{0};
};

constexpr int turns_at_once = 16;
constexpr std::int64_t most_turns_ns = 150 * ns_per_us;

/// The shortest way of a few turns of ping-pong between two threads, one way. 0: there is no second
/// processor, or no second thread.
double measure_message_us() {
    if (std::thread::hardware_concurrency() < 2) return 0;
    Word there, back;
    std::thread other;
    const std::int64_t until_ns = now_ns() + most_turns_ns;
    try {
        // Looks at the clock now and then: while the first is not given a processor, it shall not spin.
        other = std::thread([&] {
            constexpr unsigned looks_between = 64;
            unsigned look = 0;
            for (int turn = 1; ++look % looks_between != 0 || now_ns() < until_ns;) {
                if (there.value.load(std::memory_order_acquire) < turn) continue;
                back.value.store(turn++, std::memory_order_release);
            }
        });
    } catch (const std::system_error&) {
        return 0;
    }
    std::int64_t best_ns = INT64_MAX;
    for (int turn = 0; now_ns() < until_ns;) {
        const std::int64_t begin_ns = now_ns();
        for (const int end = turn + turns_at_once; turn < end;) {
            there.value.store(++turn, std::memory_order_release);
            while (back.value.load(std::memory_order_acquire) < turn && now_ns() < until_ns) continue;
        }
        if (back.value.load(std::memory_order_acquire) == turn)
            best_ns = std::min(best_ns, now_ns() - begin_ns);
    }
    other.join();
    if (best_ns == INT64_MAX) return 0;
    return static_cast<double>(best_ns) / (2 * turns_at_once) / ns_per_us;
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
    speed.message_us = measure_message_us();
    return speed;
}

}  // namespace mutirao::agent
