// Free disk by statvfs. /tmp: where programs that run out of memory or keep checkpoints write first.
#include <sys/statvfs.h>

#include "agent/sensors/host_sensors.h"

namespace mutirao::agent {

std::optional<double> free_disk(SensorMemory&) {
    struct statvfs about{};
    if (statvfs("/tmp", &about) != 0) return std::nullopt;
    return static_cast<double>(about.f_bavail) * static_cast<double>(about.f_frsize);
}

}  // namespace mutirao::agent
