// Available processor from /proc/stat: idle and waiting for devices count as available.
#include <charconv>

#include "agent/sensors/host_sensors.h"
#include "agent/sensors/text_file.h"

namespace mutirao::agent {
namespace {

constexpr int idle_column = 3;
constexpr int device_wait_column = 4;
/// Guest time, in the columns after these, is counted in user time already.
constexpr int columns = 8;

/// Reads "cpu  10 20 30 ...", the time of all processors by what they did.
std::optional<SensorMemory> read_times(std::string_view line) {
    constexpr std::string_view name = "cpu ";
    if (!line.starts_with(name)) return std::nullopt;
    const char* at = line.data() + name.size();
    const char* const end = line.data() + line.size();
    SensorMemory times;
    for (int column = 0; column < columns; ++column) {
        while (at != end && *at == ' ') ++at;
        std::uint64_t ticks = 0;
        const auto [stop, error] = std::from_chars(at, end, ticks);
        if (error != std::errc{}) return std::nullopt;
        at = stop;
        times.total += ticks;
        if (column != idle_column && column != device_wait_column) times.busy += ticks;
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

}  // namespace mutirao::agent
