// Free memory from /proc/meminfo: MemAvailable, the kernel's own estimate.
#include <algorithm>
#include <charconv>

#include "agent/sensors/host_sensors.h"
#include "agent/sensors/text_file.h"

namespace mutirao::agent {

std::optional<double> free_memory(SensorMemory&) {
    constexpr std::string_view name = "MemAvailable:";
    constexpr double bytes_per_unit = 1024;
    const TextFile file("/proc/meminfo");
    std::string_view text = file.text();
    const std::size_t begin = text.find(name);
    if (begin == text.npos) return std::nullopt;
    text.remove_prefix(begin + name.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::uint64_t units = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), units);
    if (error != std::errc{}) return std::nullopt;
    return static_cast<double>(units) * bytes_per_unit;
}

}  // namespace mutirao::agent
