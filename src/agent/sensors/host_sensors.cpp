#include "agent/sensors/host_sensors.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/system.h"

namespace mutirao::agent {
namespace {

/// The beginning of /proc/stat, with twenty processors or so. Without streams: a probe may be waited for.
std::string processor_lines() {
    std::string text(2048, '\0');
    const File file(open("/proc/stat", O_RDONLY | O_CLOEXEC));
    const ssize_t count = file ? read(file.number(), text.data(), text.size()) : 0;
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
}

constexpr int idle_column = 3;
constexpr int device_wait_column = 4;
constexpr int steal_column = 7;
/// Guest time, in the columns after these, is counted in user time already.
constexpr int columns = 8;

using Ticks = std::array<std::uint64_t, columns>;

/// Of "cpu0 10 20 30 ...", what follows the name.
std::optional<Ticks> read_ticks(std::string_view columns_of_line) {
    const char* at = columns_of_line.data();
    const char* const end = at + columns_of_line.size();
    Ticks ticks{};
    for (std::uint64_t& each : ticks) {
        while (at != end && *at == ' ') ++at;
        const auto [stop, error] = std::from_chars(at, end, each);
        if (error != std::errc{}) return std::nullopt;
        at = stop;
    }
    return ticks;
}

/// The time of all processors, by what they did.
std::optional<ProcessorTimes> read_times(std::string_view text) {
    constexpr std::string_view name = "cpu ";
    const auto ticks = text.starts_with(name) ? read_ticks(text.substr(name.size())) : std::nullopt;
    if (!ticks) return std::nullopt;
    ProcessorTimes times;
    for (int column = 0; column < columns; ++column) {
        const std::uint64_t each = (*ticks)[static_cast<std::size_t>(column)];
        times.total += each;
        if (column != idle_column && column != device_wait_column) times.busy += each;
    }
    return times;
}

/// Share of the processors' time that was idle since the last reading: nothing at the first.
std::optional<double> available_processor(ProcessorTimes& last) {
    const auto times = read_times(processor_lines());
    if (!times) return std::nullopt;
    const ProcessorTimes before = std::exchange(last, *times);
    if (before.total == 0 || times->total <= before.total || times->busy < before.busy)
        return std::nullopt;
    const auto busy = static_cast<double>(times->busy - before.busy);
    return 1 - busy / static_cast<double>(times->total - before.total);
}

/// Bytes that programs can still get without swapping.
std::optional<double> free_memory() {
    constexpr double bytes_per_unit = 1024;
    std::ifstream file("/proc/meminfo");
    double units = 0;
    for (std::string word; file >> word;)
        if (word == "MemAvailable:" && file >> units) return units * bytes_per_unit;
    return std::nullopt;
}

/// Bytes free to users where temporary files go.
std::optional<double> free_disk() {
    struct statvfs about{};
    if (statvfs("/tmp", &about) != 0) return std::nullopt;
    return static_cast<double>(about.f_bavail) * static_cast<double>(about.f_frsize);
}

}  // namespace

std::vector<std::int64_t> stolen_ns_in(std::string_view text) {
    static const std::int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
    std::vector<std::int64_t> stolen;
    std::size_t line = text.find("\ncpu");
    for (; line != text.npos; line = text.find("\ncpu", line + 1)) {
        const std::size_t space = text.find(' ', line);
        const std::size_t end = text.find('\n', line + 1);
        if (space == text.npos || end == text.npos) break;
        const auto ticks = read_ticks(text.substr(space, end - space));
        if (!ticks) break;
        stolen.push_back(static_cast<std::int64_t>((*ticks)[steal_column]) * ns_per_tick);
    }
    return stolen;
}

std::vector<std::int64_t> stolen_processor_ns() { return stolen_ns_in(processor_lines()); }

std::vector<HostReading> read_host_sensors(ProcessorTimes& last) {
    const std::pair<std::string_view, std::optional<double>> values[] = {
        {"available_processor_share", available_processor(last)},
        {"free_memory_bytes", free_memory()},
        {"free_disk_bytes", free_disk()},
    };
    std::vector<HostReading> readings;
    for (const auto& [sensor, value] : values)
        if (value) readings.push_back({sensor, *value});
    return readings;
}

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
