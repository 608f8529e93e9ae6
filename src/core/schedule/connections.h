// What connections and uplinks let through while a schedule is walked: TCP's window, which grows, and the uplink that
// hosts of a site share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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
    /// Bytes that left at about the same time.
    struct Flight {
        double acknowledged_us = 0;
        std::size_t bytes = 0;
        std::size_t out_bytes = 0;  ///< then under way, with those before
    };

    double window_opens_us(std::size_t bytes, double ready_us, double round_trip_us, std::size_t least_bytes) {
        if (least_bytes == Transport::unlimited) return ready_us;
        if (window_bytes_ == 0) {
            window_bytes_ = least_bytes;
            last_us_ = ready_us;
        }
        acknowledge(ready_us);
        close_window(ready_us, round_trip_us, least_bytes);
        begin_packet();
        double now_us = std::max(ready_us, opened_us_);
        for (;;) {
            acknowledge(now_us);
            const std::size_t sent = std::min(bytes, window_bytes_ - std::min(window_bytes_, out_bytes_));
            if (sent > 0) send(sent, now_us + round_trip_us, round_trip_us);
            bytes -= sent;
            if (bytes == 0) return opened_us_ = now_us;
            now_us = flights_.front().acknowledged_us;
        }
    }
    /// MPI libraries do not let the kernel wait for more (TCP_NODELAY): each message begins with a packet of its own.
    void begin_packet() {
        if (flight_count_ == 0) return;
        Flight& last = flights_[flight_count_ - 1];
        const std::size_t rounded_bytes = Transport::packets(last.bytes) * Transport::packet_bytes;
        out_bytes_ += rounded_bytes - last.bytes;
        last.bytes = rounded_bytes;
        last.out_bytes = out_bytes_;
    }
    /// The window grows by what is acknowledged, if more than half of it was in use (Linux, tcp_is_cwnd_limited).
    void acknowledge(double now_us) {
        while (flight_count_ > 0 && flights_.front().acknowledged_us <= now_us) {
            const Flight& first = flights_.front();
            if (window_bytes_ < 2 * first.out_bytes) window_bytes_ += first.bytes;
            out_bytes_ -= first.bytes;
            std::move(flights_.begin() + 1, flights_.begin() + flight_count_, flights_.begin());
            --flight_count_;
        }
    }
    void send(std::size_t bytes, double acknowledged_us, double round_trip_us) {
        constexpr double about = 0.01;
        const bool is_new = flight_count_ == 0 || acknowledged_us - flights_[flight_count_ - 1].acknowledged_us >
                                                      about * round_trip_us;
        if (is_new && flight_count_ < flights_.size()) flights_[flight_count_++] = {};
        Flight& last = flights_[flight_count_ - 1];
        last.acknowledged_us = acknowledged_us;
        last.bytes += bytes;
        last.out_bytes = out_bytes_ += bytes;
    }
    /// A connection that was idle for longer than TCP waits for an acknowledgement has half its window left, and
    /// half of that for each further wait (RFC 5681, section 4.1, as Linux does it).
    void close_window(double now_us, double round_trip_us, std::size_t least_bytes) {
        constexpr double least_margin_us = 200'000;  // RFC 6298 asks for a second in all; Linux
        const double waits = (now_us - last_us_) / (round_trip_us + least_margin_us);
        if (waits < 1) return;
        for (int i = 1; i <= waits && window_bytes_ > least_bytes; ++i) window_bytes_ /= 2;
        window_bytes_ = std::max(window_bytes_, least_bytes);
    }

    double paced_until_us(std::size_t length_bytes, double ready_us, double round_trip_us) {
        if (out_bytes_ == 0 || ready_us > last_us_ + round_trip_us) {
            opened_us_ = last_us_ = ready_us;
            out_bytes_ = 0;
        }
        out_bytes_ = Transport::packets(out_bytes_) * Transport::packet_bytes + length_bytes;
        window_bytes_ = std::max(window_bytes_, out_bytes_);
        return std::max(ready_us + Transport::paced_us(length_bytes, window_bytes_, round_trip_us),
                        opened_us_ + Transport::paced_us(out_bytes_, window_bytes_, round_trip_us));
    }

    std::array<Flight, 3> flights_{};  ///< the newest last, of more than these several as one
    std::uint8_t flight_count_ = 0;
    std::size_t out_bytes_ = 0;     ///< under way; BBR: of this burst so far
    std::size_t window_bytes_ = 0;  ///< BBR: of the longest burst so far
    double opened_us_ = 0;          ///< for the last message; BBR: when the burst began
    double last_us_ = 0;            ///< the last byte left
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
