// What an agent tells people about its work: links, forecasts, recent changes, sensors, counters. A
// plain value, and as bytes for the shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/counters.h"

namespace mutirao::agent {

struct ForecastStatus {
    double value = 0;
    double error = 0;
    std::string forecaster;

    bool operator==(const ForecastStatus&) const = default;
};

/// This host's link to another. Only the lower host of a link measures it.
struct LinkStatus {
    static constexpr std::size_t most_recent = 16;

    bool channel_up = false;
    bool over_tcp = false;               ///< probed inside the channel, since UDP does not pass
    std::optional<double> announced_us;  ///< infinite: carries nothing
    std::optional<ForecastStatus> latency_us;
    std::optional<ForecastStatus> bandwidth_bytes_per_us;
    std::optional<ForecastStatus> connect_us;
    std::vector<double> recent_us;  ///< oldest first

    bool operator==(const LinkStatus&) const = default;
};

struct EventStatus {
    double time_s = 0;  ///< since 1970
    std::string text;

    bool operator==(const EventStatus&) const = default;
};

struct SensorStatus {
    std::string name;  ///< with its unit
    double value = 0;
    std::optional<ForecastStatus> forecast;

    bool operator==(const SensorStatus&) const = default;
};

struct Status {
    double time_s = 0;     ///< when this was written
    double started_s = 0;
    double processor_s = 0;        ///< processor time of the agent so far
    std::uint64_t resident_bytes = 0;  ///< of its process
    std::string series_stopped;    ///< why the series is not kept any more; empty: kept or not asked for
    std::vector<LinkStatus> links;      ///< by host
    std::vector<EventStatus> events;    ///< newest last, 64 at most
    std::vector<SensorStatus> sensors;
    Counters counters{};

    bool operator==(const Status&) const = default;
};

std::vector<std::byte> encode(const Status& status);
/// Nothing unless encode() made it.
std::optional<Status> decode_status(std::span<const std::byte> bytes);

}  // namespace mutirao::agent
