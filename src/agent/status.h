// What an agent tells people about its work: links, forecasts, recent changes, sensors, counters. A
// plain value, and as bytes for the shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mutirao::agent {

// What an agent counts: what its frames came to, and what they cost. One table of names.

enum class Count : std::uint8_t {
    probes_sent, probes_answered, probes_late,
    udp_packets_sent, udp_packets_received,
    udp_bytes_sent, udp_bytes_received,  ///< with the headers of UDP and IP
    tcp_bytes_sent, tcp_bytes_received,  ///< what the channels carried; the kernel adds headers
    frames_accepted,
    rejected_junk, rejected_oversized, rejected_truncated, rejected_malformed, rejected_forged,
    rejected_replayed, rejected_from_self, rejected_wrong_receiver, rejected_unknown_sender,
    rejected_wrong_session, rejected_unexpected,
    strangers_dropped,  ///< to make room for newer ones
    channels_opened, channels_lost,
    announcements, versions, rounds_restarted
};

/// In the order of Count.
inline constexpr std::array<std::string_view, 27> count_names = {
    "probes_sent", "probes_answered", "probes_late",
    "udp_packets_sent", "udp_packets_received",
    "udp_bytes_sent", "udp_bytes_received",
    "tcp_bytes_sent", "tcp_bytes_received",
    "frames_accepted",
    "rejected_junk", "rejected_oversized", "rejected_truncated", "rejected_malformed",
    "rejected_forged", "rejected_replayed", "rejected_from_self", "rejected_wrong_receiver",
    "rejected_unknown_sender", "rejected_wrong_session", "rejected_unexpected",
    "strangers_dropped",
    "channels_opened", "channels_lost",
    "announcements", "versions", "rounds_restarted"};
static_assert(count_names.size() == static_cast<std::size_t>(Count::rounds_restarted) + 1);

class Counters {
  public:
    std::uint64_t& operator[](Count count) { return values_[static_cast<std::size_t>(count)]; }
    std::uint64_t operator[](Count count) const {
        return values_[static_cast<std::size_t>(count)];
    }
    const std::array<std::uint64_t, count_names.size()>& all() const { return values_; }
    std::array<std::uint64_t, count_names.size()>& all() { return values_; }

    bool operator==(const Counters&) const = default;

  private:
    std::array<std::uint64_t, count_names.size()> values_{};
};

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
