// What connections and uplinks let through while a schedule is walked: TCP's window, which grows, and the uplink that
// hosts of a site share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/network/network.h"
#include "core/network/placement.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// Free times, one per direction.
struct Ports {
    double outgoing_free_us = 0;
    double incoming_free_us = 0;
};

/// From when on the sites' uplinks are free, as the predictor's walk takes them for its messages. Hosts that share an
/// uplink do not use it between each other.
class UplinkUse {
  public:
    explicit UplinkUse(const Network::Uplinks& uplinks)
        : uplinks_(uplinks), free_us_(uplinks.bytes_per_us.size()) {}

    /// Whether a message between these hosts goes over uplinks.
    bool crossed(int from_host, int to_host) const {
        const auto [from, to] = between(from_host, to_host);
        return from != to;
    }

    /// Takes the sender's uplink from `earliest_us` on, or as soon as it is free.
    struct Span {
        double begin_us;
        double end_us;
    };
    Span leave(int from_host, int to_host, std::size_t length_bytes, double earliest_us) {
        const auto [from, to] = between(from_host, to_host);
        return from == to ? Span{earliest_us, earliest_us}
                          : occupy(free_us_[from].outgoing_free_us, from, length_bytes, earliest_us);
    }
    /// The same for the receiver's, as the first byte arrives.
    Span enter(int from_host, int to_host, std::size_t length_bytes, double now_us) {
        const auto [from, to] = between(from_host, to_host);
        return from == to ? Span{now_us, now_us}
                          : occupy(free_us_[to].incoming_free_us, to, length_bytes, now_us);
    }

  private:
    Span occupy(double& free_us, std::size_t uplink, std::size_t length_bytes, double earliest_us) {
        const double begin_us = std::max(free_us, earliest_us);
        free_us = begin_us + transmission_us(length_bytes, uplinks_.bytes_per_us[uplink]);
        return {begin_us, free_us};
    }

    std::pair<std::size_t, std::size_t> between(int from_host, int to_host) const {
        if (uplinks_.of_host.empty()) return {0, 0};
        return {static_cast<std::size_t>(uplinks_.of_host[static_cast<std::size_t>(from_host)]),
                static_cast<std::size_t>(uplinks_.of_host[static_cast<std::size_t>(to_host)])};
    }

    const Network::Uplinks& uplinks_;
    std::vector<Ports> free_us_;
};

/// When TCP lets the bytes leave that one rank sends to another; connections are pairs' own.
class TcpStream {
  public:
    /// When the last byte of a message may leave, which is ready at `ready_us`. Until then the kernel holds it:
    /// the sender need not wait.
    double opens_us(std::size_t length_bytes, double ready_us, double round_trip_us, const Transport& transport) {
        length_bytes += transport.header_bytes;
        return transport.bbr ? paced_until_us(length_bytes, ready_us, round_trip_us)
                             : window_opens_us(length_bytes, ready_us, round_trip_us, transport.initial_window_bytes);
    }
    /// Its last byte did leave.
    void left(double time_us) { last_us_ = time_us; }

  private:
    double window_opens_us(std::size_t length_bytes, double ready_us, double round_trip_us,
                           std::size_t initial_window_bytes) {
        if (bytes_ == 0) begin(ready_us, initial_window_bytes);
        close_window(ready_us, round_trip_us, initial_window_bytes);
        add(length_bytes);
        const int trips = Transport::round_trips_before(bytes_, window_bytes_);
        return trips == 0 ? ready_us : begun_us_ + trips * round_trip_us;
    }
    double paced_until_us(std::size_t length_bytes, double ready_us, double round_trip_us) {
        if (bytes_ == 0 || ready_us > last_us_ + round_trip_us) begin(ready_us, 0);
        add(length_bytes);
        most_bytes_ = std::max(most_bytes_, bytes_);
        return std::max(ready_us + Transport::paced_us(length_bytes, most_bytes_, round_trip_us),
                        begun_us_ + Transport::paced_us(bytes_, most_bytes_, round_trip_us));
    }

    /// MPI libraries do not let the kernel wait for more (TCP_NODELAY): each message begins with a packet of its own.
    void add(std::size_t length_bytes) {
        bytes_ = Transport::packets(bytes_) * Transport::packet_bytes + length_bytes;
    }

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
    std::size_t most_bytes_ = 0;    ///< BBR: of the bursts so far
    double last_us_ = 0;            ///< the last of them left
};

// Which sends a rank need not wait for. Where the MPI library completes a send only when it has been
// acknowledged, a rank that has nothing more to do would wait a round trip for nothing; it may leave
// and let the MPI library finish from a copy. One rule, for the executor and for the predictor.

/// Per step: true for the last sends to each peer that together hold at most detached_bytes, if the
/// transport acknowledges messages of their length and asks no consent before them. None inside a host:
/// what shared memory has no room for waits for the sender's next call.
std::vector<bool> detached_sends(const Schedule& schedule, const Transport& transport,
                                 const Placement& placement, int rank);

}  // namespace mutirao
