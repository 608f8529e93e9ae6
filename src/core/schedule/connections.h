// What connections and uplinks let through while a schedule is walked: TCP's window, which grows, the uplink that hosts
// of a site share, and what each connection has carried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
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

/// One direction of a TCP connection through all its life: slow start by what is acknowledged, as far as the window
/// limits the sender, and the halving of a window that lies idle, as Linux does them. TcpStream is the same for
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

// Which sends a rank need not wait for. Where the MPI library completes a send only when it has been
// acknowledged, a rank that has nothing more to do would wait a round trip for nothing; it may leave
// and let the MPI library finish from a copy. One rule, for the executor and for the predictor.

/// Per step: true for the last sends to each peer that together hold at most detached_bytes, if the
/// transport acknowledges messages of their length and asks no consent before them. None inside a host:
/// what shared memory has no room for waits for the sender's next call.
std::vector<bool> detached_sends(const Schedule& schedule, const Transport& transport,
                                 const Placement& placement, int rank);

}  // namespace mutirao
