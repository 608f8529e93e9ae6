// Available processor from /proc/stat: idle and waiting for devices count as available.
#include <unistd.h>

#include <array>
#include <charconv>

#include "agent/sensors/host_sensors.h"
#include "agent/sensors/text_file.h"

namespace mutirao::agent {
namespace {

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
std::optional<SensorMemory> read_times(std::string_view text) {
    constexpr std::string_view name = "cpu ";
    const auto ticks = text.starts_with(name) ? read_ticks(text.substr(name.size())) : std::nullopt;
    if (!ticks) return std::nullopt;
    SensorMemory times;
    for (int column = 0; column < columns; ++column) {
        const std::uint64_t each = (*ticks)[static_cast<std::size_t>(column)];
        times.total += each;
        if (column != idle_column && column != device_wait_column) times.busy += each;
    }
    return times;
}

}  // namespace

std::optional<double> available_processor(SensorMemory& memory) {
    const auto times = read_times(TextFile("/proc/stat").text());
    if (!times) return std::nullopt;
    const SensorMemory before = memory;
    memory = *times;
    if (before.total == 0 || times->total <= before.total || times->busy < before.busy)
        return std::nullopt;
    const auto busy = static_cast<double>(times->busy - before.busy);
    return 1 - busy / static_cast<double>(times->total - before.total);
}

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

std::vector<std::int64_t> stolen_processor_ns() { return stolen_ns_in(TextFile("/proc/stat").text()); }

}  // namespace mutirao::agent
