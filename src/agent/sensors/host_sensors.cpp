#include "agent/sensors/host_sensors.h"

#include <array>

namespace mutirao::agent {
namespace {

struct HostSensor {
    std::string_view name;
    std::optional<double> (*read)(SensorMemory& memory);
};

constexpr std::array sensors = {
    HostSensor{"available_processor_share", available_processor},
    HostSensor{"free_memory_bytes", free_memory},
    HostSensor{"free_disk_bytes", free_disk},
};

}  // namespace

HostSensors::HostSensors() : running_(sensors.size()) {}

std::vector<HostReading> HostSensors::read() {
    std::vector<HostReading> readings;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
        const auto value = sensors[i].read(running_[i].memory);
        if (!value) continue;
        running_[i].bank.measured(*value);
        running_[i].newest = value;
        readings.push_back({sensors[i].name, *value});
    }
    return readings;
}

std::vector<SensorStatus> HostSensors::status() const {
    std::vector<SensorStatus> all;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
        if (!running_[i].newest) continue;
        all.push_back({std::string(sensors[i].name), *running_[i].newest,
                       status_of(running_[i].bank.forecast())});
    }
    return all;
}

std::optional<ForecastStatus> status_of(const std::optional<Forecast>& forecast) {
    if (!forecast) return std::nullopt;
    return ForecastStatus{forecast->value, forecast->error, std::string(forecast->forecaster)};
}

}  // namespace mutirao::agent
