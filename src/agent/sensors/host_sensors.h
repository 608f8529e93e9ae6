// What an agent measures of its own host: processor, memory and disk, in one table. Each reading goes into a bank of
// forecasters.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/status.h"
#include "core/forecast/bank.h"

namespace mutirao::agent {

/// What a sensor keeps from one reading to the next.
struct SensorMemory {
    std::uint64_t busy = 0;
    std::uint64_t total = 0;
};

/// Share of the processors' time that was idle since the last reading: nothing at the first.
std::optional<double> available_processor(SensorMemory& memory);
/// Bytes that programs can still get without swapping.
std::optional<double> free_memory(SensorMemory& unused);
/// Bytes free to users where temporary files go.
std::optional<double> free_disk(SensorMemory& unused);

/// What was stolen from each processor so far, of the first twenty or so.
std::vector<std::int64_t> stolen_processor_ns();
/// The same from the text of /proc/stat.
std::vector<std::int64_t> stolen_ns_in(std::string_view text);

struct HostReading {
    std::string_view sensor;
    double value;
};

class HostSensors {
  public:
    HostSensors();

    /// Reads all; what could not be read is left out.
    std::vector<HostReading> read();
    std::vector<SensorStatus> status() const;

  private:
    struct Running {
        SensorMemory memory;
        Bank bank;
        std::optional<double> newest;
    };

    std::vector<Running> running_;  ///< as in the table
};

/// As it stands in a status.
std::optional<ForecastStatus> status_of(const std::optional<Forecast>& forecast);

}  // namespace mutirao::agent
