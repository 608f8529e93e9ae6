// Measures how fast a link carries what is sent at once: trains of datagrams, timed by the kernel of whoever receives
// them, who tells what came of each. A first short train tells how long the next may be: 50 ms of the link's time, and
// 80 packets, below 100 KiB, at most. The fastest counts, once another one is like it, or after five. A pure machine
// without clock or sockets.
//
// A host takes part in one measurement at a time, in whichever part: who is busy refuses as a train begins. Where UDP
// does not pass nothing is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agent/frame.h"
#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

struct PacketArrival {
    int number = 0;  ///< in the order of sending
    std::int64_t time_ns = 0;
};

/// Of a train whose packets take so many bytes each. Nothing if too few came in a row, or all at once.
std::optional<double> train_bytes_per_us(std::span<const PacketArrival> arrivals,
                                         double packet_bytes);

class BandwidthSensor {
  public:
    struct Outgoing {
        int to = -1;
        Kind kind = Kind::bandwidth_result;  ///< bandwidth_data: as a datagram
        std::vector<std::byte> payload;
    };
    using Output = std::vector<Outgoing>;

    struct Ended {
        int peer = -1;
        std::optional<double> bytes_per_us;  ///< nothing: too little arrived
        bool refused = false;                ///< the other end is busy
    };

    /// Nothing goes out while this host is busy.
    Output measure(int peer, std::int64_t now_ns);
    Output on_datagram(int peer, std::span<const std::byte> payload, std::int64_t arrived_ns);
    /// What is out of place is ignored: it may be late.
    Output on_result(int peer, std::span<const std::byte> payload, std::int64_t now_ns);
    /// Ends what takes too long; to be called at next_ns().
    Output advance(std::int64_t now_ns);
    bool busy() const { return part_ != Part::none; }
    std::int64_t next_ns() const;
    void lost(int peer);

    /// A measurement of this host's has come to an end: told once.
    std::optional<Ended> take_ended() { return std::exchange(ended_, std::nullopt); }

  private:
    enum class Part : std::uint8_t { none, sending, receiving };

    void engage(int partner, Part part, int packets, std::int64_t now_ns);
    void end(std::optional<double> bytes_per_us, bool refused = false);
    Output next_train(int peer, int packets, std::int64_t now_ns);
    Output report();

    int partner_ = -1;
    Part part_ = Part::none;
    std::int64_t until_ns_ = 0;
    int packets_ = 0;  ///< of the train
    int trains_left_ = 0;
    double first_bytes_per_us_ = 0, fastest_bytes_per_us_ = 0;  ///< of the first train; of the others
    std::vector<PacketArrival> arrivals_;
    std::optional<Ended> ended_;
};

// Which links' bandwidth this host measures, and when. Hosts of one site share their way to another, so
// the lowest hosts of each two sites stand for all pairs between them, and the lowest two hosts of a
// site for all within. Of each such pair the lower one asks. At the start pairs take turns, a quarter of a
// second apart: no site is in two pairs of a turn, and the pairs within sites come last. Later each is measured
// again once in a period, or when its latency has changed a lot, but not twice in a minute. A pure machine.

class BandwidthPlan {
  public:
    /// Period 0: nothing is ever measured.
    BandwidthPlan(int self, std::int64_t period_ns) : self_(self), period_ns_(period_ns) {}

    /// Whenever there is a new complete version of the tree. `site_of`: by host.
    void follow(const Version& version, const std::vector<int>& site_of, std::int64_t now_ns);
    /// Whose turn it is.
    std::optional<int> due(std::int64_t now_ns) const;
    void asked(int peer, std::int64_t now_ns);
    /// Where nothing arrived, or the other end cannot be reached, it is tried more and more rarely.
    void ended(const BandwidthSensor::Ended& how, std::int64_t now_ns);
    std::int64_t next_ns() const;

  private:
    struct Pair {
        int peer = -1;
        double latency_us = 0;  ///< when it was last planned for
        std::int64_t next_ns = 0;
        int failures = 0;  ///< since it was measured
        std::int64_t rests_until_ns = 0;
    };

    /// Null: there is none any more.
    Pair* pair_with(int peer);

    int self_;
    std::int64_t period_ns_;
    std::vector<Pair> pairs_;
};

}  // namespace mutirao::agent
