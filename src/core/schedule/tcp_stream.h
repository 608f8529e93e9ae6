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
        if (bytes_ == 0) begin(ready_us, initial_window_bytes);
        close_window(ready_us, round_trip_us, initial_window_bytes);
        bytes_ += length_bytes;
        const int trips = Transport::round_trips_before(bytes_, window_bytes_);
        return trips == 0 ? ready_us : begun_us_ + trips * round_trip_us;
    }
    /// Its last byte did leave.
    void left(double time_us) { last_us_ = time_us; }

  private:
    void begin(double time_us, std::size_t window_bytes) {
        begun_us_ = last_us_ = time_us;
        window_bytes_ = window_bytes;
        bytes_ = 0;
    }

    /// A connection that was idle for longer than TCP waits for an acknowledgement has half its window left, and
    /// half of that for each further wait (RFC 5681, section 4.1, as Linux does it).
    void close_window(double now_us, double round_trip_us, std::size_t least_bytes) {
        constexpr double least_margin_us = 200'000;  // RFC 6298 asks for a second in all; Linux
        const double waits = (now_us - last_us_) / (round_trip_us + least_margin_us);
        if (waits < 1) return;
        std::size_t open_bytes = window_bytes_ << Transport::round_trips_before(bytes_, window_bytes_);
        for (int i = 1; i <= waits && open_bytes > least_bytes; ++i) open_bytes /= 2;
        begin(now_us, std::max(open_bytes, least_bytes));
    }

    double begun_us_ = 0;  ///< after it had been idle
    std::size_t window_bytes_ = 0;  ///< then
    std::size_t bytes_ = 0;         ///< since then
    double last_us_ = 0;            ///< the last of them left
};

}  // namespace mutirao
