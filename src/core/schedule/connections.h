// What one collective leaves behind for the next: how far TCP has opened the windows of the ranks' connections,
// and until when links and ports are busy. A prediction takes none of it, since it is for calls that come alone;
// a simulated program hands it from call to call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "core/schedule/uplink_use.h"

namespace mutirao {

/// One direction of a TCP connection through all its life: slow start by what is acknowledged, as far as the window
/// limits the sender, and the halving of a window that lies idle, as Linux does them. tcp_stream.h is the same for
/// a single call and without acknowledgements. Nothing is ever lost.
class LivingStream {
  public:
    /// When the last byte of a message leaves that is ready at `ready_us`.
    double send(std::size_t length_bytes, double ready_us, double round_trip_us, std::size_t initial_window_bytes) {
        double now_us = std::max(ready_us, last_us_);
        if (window_bytes_ == 0) window_bytes_ = initial_window_bytes;
        hear_acknowledgements(now_us);
        if (under_way_.empty()) halve(now_us - last_us_, round_trip_us, initial_window_bytes);
        for (std::size_t left_bytes = length_bytes;;) {
            if (now_us >= watched_until_us_) {
                watched_until_us_ = now_us + round_trip_us;
                most_under_way_bytes_ = under_way_bytes_;
            }
            const std::size_t room_bytes = window_bytes_ - std::min(window_bytes_, under_way_bytes_);
            const std::size_t part_bytes = std::min(room_bytes, left_bytes);
            if (part_bytes > 0) under_way_.push_back({now_us + round_trip_us, part_bytes});
            under_way_bytes_ += part_bytes;
            most_under_way_bytes_ = std::max(most_under_way_bytes_, under_way_bytes_);
            left_bytes -= part_bytes;
            if (left_bytes == 0) break;
            now_us = under_way_.front().acknowledged_us;
            hear_acknowledgements(now_us);
        }
        return last_us_ = now_us;
    }

  private:
    struct Part {
        double acknowledged_us;
        std::size_t bytes;
    };

    // Linux' tcp_is_cwnd_limited: a window grows to twice what was under way, not further; and what the receiver lets
    // through is half of the largest buffer that tcp_rmem allows by default.
    void hear_acknowledgements(double now_us) {
        constexpr std::size_t most_window_bytes = 3 << 20;
        while (!under_way_.empty() && under_way_.front().acknowledged_us <= now_us) {
            const std::size_t bytes = under_way_.front().bytes;
            under_way_.pop_front();
            under_way_bytes_ -= bytes;
            if (window_bytes_ < 2 * most_under_way_bytes_)
                window_bytes_ = std::min(window_bytes_ + bytes, most_window_bytes);
        }
    }

    // RFC 5681, section 4.1, as Linux does it: once for each time-out.
    void halve(double idle_us, double round_trip_us, std::size_t least_bytes) {
        constexpr double least_margin_us = 200'000;
        const double timeouts = idle_us / (round_trip_us + least_margin_us);
        for (int i = 1; i <= timeouts && window_bytes_ > least_bytes; ++i) window_bytes_ /= 2;
        window_bytes_ = std::max(window_bytes_, least_bytes);
    }

    std::size_t window_bytes_ = 0;  ///< 0: it has sent nothing yet
    std::deque<Part> under_way_;
    std::size_t under_way_bytes_ = 0;
    std::size_t most_under_way_bytes_ = 0;  ///< in the present round trip
    double watched_until_us_ = 0;
    double last_us_ = 0;
};

/// Times are those of the walks that it is handed to, so these must have one clock.
struct Connections {
    Connections(int ranks, int hosts)
        : rank_count(static_cast<std::size_t>(ranks)),
          streams(rank_count * rank_count),
          connected_us(rank_count * rank_count),
          link_free_us(rank_count * rank_count, 0),
          ports(static_cast<std::size_t>(hosts)) {}

    /// Of the messages from one rank to another.
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * rank_count + static_cast<std::size_t>(to);
    }

    std::size_t rank_count;
    /// When a message leaves that is ready at `ready_us`, if its connection has to be made first.
    double connected_by(int from, int to, double ready_us, double round_trip_us) {
        auto& since_us = connected_us[index(std::min(from, to), std::max(from, to))];
        if (!since_us) since_us = ready_us + connect_round_trips * round_trip_us;
        return std::max(*since_us, ready_us);
    }

    /// That pass between the first message for a rank and its first byte.
    double connect_round_trips = 0;
    std::vector<LivingStream> streams;
    std::vector<std::optional<double>> connected_us;  ///< from the lower rank to the higher
    std::vector<double> link_free_us;
    std::vector<Ports> ports;  ///< by host
};

}  // namespace mutirao
