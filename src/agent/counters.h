// What an agent counts: what its frames came to, and what they cost. One table of names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mutirao::agent {

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
    const std::array<std::uint64_t, count_names.size()>& all() const { return values_; }

  private:
    std::array<std::uint64_t, count_names.size()> values_{};
};

}  // namespace mutirao::agent
