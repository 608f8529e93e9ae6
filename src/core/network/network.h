// What is known of the hosts and of the links between them: the plain values that the
// predictor, the tree builders and the selection work on. Measured, read from a file or made up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace mutirao {

/// One direction of a link between two hosts.
struct Link {
    double latency_us = 0;  ///< one way, for an empty message; infinite: nothing gets through
    double bandwidth_bytes_per_us = std::numeric_limits<double>::infinity();

    bool usable() const { return std::isfinite(latency_us); }
    bool operator==(const Link&) const = default;
};

/// Bytes over a bandwidth; an empty message takes no time, whatever the bandwidth.
inline double transmission_us(std::size_t length_bytes, double bandwidth_bytes_per_us) {
    return length_bytes == 0 ? 0.0 : static_cast<double>(length_bytes) / bandwidth_bytes_per_us;
}

/// What a host's own processor and port cost, whatever the link.
struct HostCosts {
    double send_overhead_us = 0;     ///< processor time to start one send
    double receive_overhead_us = 0;  ///< processor time to complete one receive
    double port_bytes_per_us = std::numeric_limits<double>::infinity();  ///< each direction

    bool operator==(const HostCosts&) const = default;
};

/// How the MPI library carries a message, which differs between libraries and shows over long links.
struct Transport {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    /// TCP's data in an Ethernet frame of 1500 bytes with time stamps, and RFC 6928's ten such segments.
    static constexpr std::size_t packet_bytes = 1448, ten_packets_bytes = 10 * packet_bytes;
    /// More than any MPI library sends before the bytes of a message.
    static constexpr std::size_t spare_bytes = 480;
    /// No MPI library asks for consent before a message of so many bytes.
    static constexpr std::size_t unasked_bytes = 32 * 1024;

    /// Messages longer than this wait for the receiver's consent first (the rendezvous protocol):
    /// one more round trip before the data moves.
    std::size_t eager_limit_bytes = unlimited;
    /// Sends longer than this are complete only when the receiver's acknowledgement is back.
    std::size_t buffered_limit_bytes = unlimited;
    /// A rank may leave a collective while up to so many bytes to each peer await acknowledgement;
    /// the executor keeps a copy of them.
    std::size_t detached_bytes = 0;
    /// What TCP sends at once over a connection that was idle (RFC 6928); each round trip brings twice as
    /// much as the one before.
    std::size_t initial_window_bytes = unlimited;
    /// What the library sends before the bytes of each message.
    std::size_t header_bytes = 0;
    /// Connections are BBR's: they keep their windows, but spread what they send (paced_us).
    bool bbr = false;

    /// A send holds its caller until the connection stands, so that a rank makes one after the other.
    bool connects_one_by_one() const { return buffered_limit_bytes != unlimited; }
    /// That a rank may make without reserve: some are made by any program's calls.
    int most_connections() const { return connects_one_by_one() ? 8 : 64; }
    /// Some of a message may leave later than it could.
    bool holds_back() const { return bbr || initial_window_bytes != unlimited; }
    /// What leaves at once, or nearly.
    std::size_t at_once_bytes() const { return bbr ? ten_packets_bytes : initial_window_bytes; }
    /// From when the first of so many bytes can leave until the last can, over a connection that was idle.
    double held_back_us(std::size_t bytes, double round_trip_us) const {
        if (bbr) return paced_us(bytes, bytes, round_trip_us);
        return round_trips_before(bytes, initial_window_bytes) * round_trip_us;
    }

    /// BBR sends at 2 / ln 2 times the highest rate at which a connection has ever delivered, as long as the program
    /// never fills it (Cardwell et al. 2016, doi:10.1145/3009824; Linux' tcp_bbr.c). A rate is counted from a burst's first
    /// packet to its last acknowledgement, so that bursts of B packets bring it to (1 - ln 2 / 2) B in a round trip;
    /// the first ten of a connection go at once. `most_bytes`: the longest burst so far.
    static double paced_us(std::size_t bytes, std::size_t most_bytes, double round_trip_us) {
        constexpr double gain = 2 / std::numbers::ln2, of_a_burst = 1 - 1 / gain;
        const double rate = std::max(10.0, of_a_burst * static_cast<double>(packets(most_bytes)));
        // The first goes at once, the second after half the time.
        return std::max(0.0, static_cast<double>(packets(bytes)) - 1.5) * round_trip_us / (gain * rate);
    }
    static std::size_t packets(std::size_t bytes) { return (bytes + packet_bytes - 1) / packet_bytes; }

    /// Round trips that pass before the last of so many bytes can leave where `window_bytes` leave at once.
    static int round_trips_before(std::size_t bytes, std::size_t window_bytes) {
        int trips = 0;
        if (window_bytes == unlimited) return trips;
        for (; bytes > window_bytes; window_bytes *= 2) {
            bytes -= window_bytes;
            ++trips;
        }
        return trips;
    }

    bool operator==(const Transport&) const = default;
};

/// A directed matrix of links over hosts 0 .. host_count-1. Links of a host to itself cost nothing.
/// Of a thousand hosts it takes 8 MB, and as much again where bandwidths are limited.
class Network {
  public:
    Network() : Network(0) {}
    explicit Network(int host_count)
        : host_count_(host_count),
          latency_us_(static_cast<std::size_t>(host_count) * static_cast<std::size_t>(host_count)),
          hosts_(static_cast<std::size_t>(host_count)) {}
    /// Links of these latencies and of no other limit: host_count^2 of them, those from a host in a row.
    Network(int host_count, std::span<const double> latency_us) : Network(host_count) {
        latency_us_.assign(latency_us.begin(),
                           latency_us.begin() + static_cast<std::ptrdiff_t>(latency_us_.size()));
    }

    int host_count() const { return host_count_; }

    Link link(int from, int to) const {
        Link link{.latency_us = latency_us_[index(from, to)]};
        if (!bandwidth_bytes_per_us_.empty()) link.bandwidth_bytes_per_us = bandwidth_bytes_per_us_[index(from, to)];
        return link;
    }
    void set_link(int from, int to, Link link) {
        latency_us_[index(from, to)] = link.latency_us;
        if (bandwidth_bytes_per_us_.empty()) {
            if (std::isinf(link.bandwidth_bytes_per_us)) return;
            bandwidth_bytes_per_us_.assign(latency_us_.size(), std::numeric_limits<double>::infinity());
        }
        bandwidth_bytes_per_us_[index(from, to)] = link.bandwidth_bytes_per_us;
    }
    void set_both(int a, int b, Link link) {
        set_link(a, b, link);
        set_link(b, a, link);
    }

    /// As the constructor takes them.
    const std::vector<double>& latency_us() const { return latency_us_; }

    const HostCosts& host(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
    void set_host(int host, HostCosts costs) { hosts_[static_cast<std::size_t>(host)] = costs; }

    Transport transport;

    /// Pairs of hosts between which messages have gone, the lower one first, in order; null: none are known. Between others
    /// a first message waits until they are connected.
    std::shared_ptr<const std::vector<std::pair<int, int>>> connected;

    /// What the hosts of a site share to and from all others, in each direction; see topology.h.
    struct Uplinks {
        std::vector<int> of_host;         ///< number of its uplink; empty: there are none
        std::vector<double> bytes_per_us;  ///< infinite: no limit

        bool operator==(const Uplinks&) const = default;
    };
    Uplinks uplinks;

    bool operator==(const Network& other) const {
        if (transport != other.transport || uplinks != other.uplinks || hosts_ != other.hosts_) return false;
        for (int from = 0; from < host_count_; ++from) {
            for (int to = 0; to < host_count_; ++to) {
                if (link(from, to) != other.link(from, to)) return false;
            }
        }
        return true;
    }

  private:
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(host_count_) +
               static_cast<std::size_t>(to);
    }

    int host_count_;
    std::vector<double> latency_us_;
    std::vector<double> bandwidth_bytes_per_us_;  ///< empty: none is limited
    std::vector<HostCosts> hosts_;
};

}  // namespace mutirao
