// When TCP lets the bytes leave that one rank sends to another; connections are pairs' own.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/network/network.h"

namespace mutirao {

class TcpStream {
  public:
    /// When the last byte of a message may leave, which is ready at `ready_us`. Until then the kernel holds it:
    /// the sender need not wait.
    double window_opens_us(std::size_t length_bytes, double ready_us, double round_trip_us,
                           std::size_t initial_window_bytes) {
        if (bytes_ == 0 && !resumed_) begin(ready_us, initial_window_bytes);
        close_window(ready_us, round_trip_us, initial_window_bytes);
        bytes_ += length_bytes;
        const int trips = Transport::round_trips_before(bytes_, window_bytes_);
        const double opens_us = trips == 0 ? ready_us : begun_us_ + trips * round_trip_us;
        if (opens_us > ready_us) limiting_bytes_ = window_bytes_ << trips;
        return opens_us;
    }
    /// Before a message that is ready at `now_us`, where the connection may have carried others long before: once
    /// all of these are acknowledged the window is as far open as they have opened it, and closes while nothing
    /// uses it. It opens while it limits the sender, and to twice what the sender had under way (Linux'
    /// tcp_is_cwnd_limited), not further.
    void resume(double now_us, double round_trip_us, std::size_t least_bytes) {
        if (bytes_ == 0 || now_us < last_us_ + round_trip_us) return;
        const double lasted_us = std::max(last_us_ - begun_us_, round_trip_us);
        const auto under_way = static_cast<std::size_t>(static_cast<double>(bytes_) * round_trip_us / lasted_us);
        const std::size_t used_bytes = std::min(2 * under_way, window_bytes_ + bytes_);
        const std::size_t open_bytes = std::max({window_bytes_, limiting_bytes_, used_bytes});
        const double idle_us = now_us - last_us_;
        begin(now_us, narrowed(open_bytes, idle_us, round_trip_us, least_bytes));
        resumed_ = true;
    }
    /// Its last byte did leave.
    void left(double time_us) { last_us_ = time_us; }

  private:
    void begin(double time_us, std::size_t window_bytes) {
        begun_us_ = last_us_ = time_us;
        window_bytes_ = window_bytes;
        bytes_ = limiting_bytes_ = 0;
    }

    void close_window(double now_us, double round_trip_us, std::size_t least_bytes) {
        const double idle_us = now_us - last_us_;
        if (waits(idle_us, round_trip_us) < 1) return;
        const std::size_t open_bytes = window_bytes_ << Transport::round_trips_before(bytes_, window_bytes_);
        begin(now_us, narrowed(open_bytes, idle_us, round_trip_us, least_bytes));
    }

    /// How many times in a row TCP would have waited for an acknowledgement.
    static double waits(double idle_us, double round_trip_us) {
        constexpr double least_margin_us = 200'000;  // RFC 6298 asks for a second in all; Linux
        return idle_us / (round_trip_us + least_margin_us);
    }

    /// A connection that was idle for longer than TCP waits for an acknowledgement has half its window left, and
    /// half of that for each further wait (RFC 5681, section 4.1, as Linux does it).
    static std::size_t narrowed(std::size_t open_bytes, double idle_us, double round_trip_us,
                                std::size_t least_bytes) {
        const double times = waits(idle_us, round_trip_us);
        for (int i = 1; i <= times && open_bytes > least_bytes; ++i) open_bytes /= 2;
        return std::max(open_bytes, least_bytes);
    }

    double begun_us_ = 0;  ///< after it had been idle
    std::size_t window_bytes_ = 0;  ///< then
    std::size_t bytes_ = 0;         ///< since then
    double last_us_ = 0;            ///< the last of them left
    std::size_t limiting_bytes_ = 0;  ///< the window when a message had to wait for it
    bool resumed_ = false;          ///< the window is not a fresh connection's
};

}  // namespace mutirao
