// Measures how fast a link carries a burst, after the Network Weather Service: 64 KiB over the channel,
// timed by the receiver from the first piece to the last. A pure machine without clock or sockets.
//
// A host takes part in one burst at a time, in whichever part: who is busy refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/frame.h"
#include "core/forecast/bank.h"

namespace mutirao::agent {

class BandwidthSensor {
  public:
    struct Outgoing {
        int to = -1;
        Kind kind = Kind::bandwidth_ask;
        std::vector<std::byte> payload;
    };
    using Output = std::vector<Outgoing>;

    explicit BandwidthSensor(int host_count) : banks_(static_cast<std::size_t>(host_count)) {}

    /// Nothing goes out while this host is busy.
    Output ask(int peer, std::int64_t now_ns);
    /// A frame of one of the four kinds. What is out of place is ignored: it may be late.
    Output on(int peer, const Frame& frame, std::int64_t now_ns);
    void lost(int peer);

    /// The newest result, once.
    std::optional<double> take_result(int peer);
    std::optional<Forecast> forecast(int peer) const {
        return banks_[static_cast<std::size_t>(peer)].forecast();
    }

  private:
    bool busy(std::int64_t now_ns) const { return partner_ >= 0 && now_ns < until_ns_; }
    void engage(int partner, bool sending, std::int64_t now_ns);
    Output on_data(std::span<const std::byte> payload, std::int64_t now_ns);
    void on_result(std::span<const std::byte> payload);

    std::vector<Bank> banks_;
    int partner_ = -1;
    bool sending_ = false;
    std::int64_t until_ns_ = 0;
    int pieces_ = 0;  ///< that came
    std::int64_t first_piece_ns_ = 0;
    std::optional<double> result_;
    int result_of_ = -1;
};

}  // namespace mutirao::agent
