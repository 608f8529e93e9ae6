// When a packet from one host is due at another: the delay, bandwidth, loss and jitter of every
// ordered pair of hosts. No socket and no clock, so that it can be reasoned about alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace mutirao::lab {

using Nanoseconds = std::int64_t;

struct LinkSettings {
    double latency_us = 0;
    double bandwidth_mbit = 0;  ///< 0: unlimited
    double loss = 0;            ///< probability
    double jitter_us = 0;       ///< up to so much is added, so no packet is ever early
};

struct LinkCounters {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t dropped = 0;
};

class LinkTable {
  public:
    /// The last host is the control host: its links are ideal and not counted as the lab's.
    explicit LinkTable(int host_count, std::uint64_t seed = 1);

    /// Hosts without the control host.
    int host_count() const { return host_count_; }

    /// When a packet that was sent at `sent` is due, or nothing if it is lost. Packets of a pair
    /// stay in order, except that those sent after a link became faster may overtake.
    std::optional<Nanoseconds> admit(int from, int to, std::size_t bytes, Nanoseconds sent);

    const LinkSettings& settings(int from, int to) const { return link(from, to).settings; }
    void set(int from, int to, const LinkSettings& settings);
    const LinkCounters& counters(int from, int to) const { return link(from, to).counters; }
    void count_drop(int from, int to);

    /// While held every link is ideal; the settings are kept, and can be changed, for later.
    void hold(bool held) { held_ = held; }
    bool held() const { return held_; }

  private:
    struct Link {
        LinkSettings settings;
        LinkCounters counters;
        Nanoseconds free_at = std::numeric_limits<Nanoseconds>::min();
        Nanoseconds last_due = std::numeric_limits<Nanoseconds>::min();
    };

    bool controls(int host) const { return host == host_count_; }
    std::optional<Nanoseconds> queue_on(Link& link, std::size_t bytes, Nanoseconds sent);
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(host_count_) +
               static_cast<std::size_t>(to);
    }
    Link& link(int from, int to) { return links_[index(from, to)]; }
    const Link& link(int from, int to) const { return links_[index(from, to)]; }

    int host_count_;
    bool held_ = false;
    std::vector<Link> links_;
    std::mt19937_64 random_;
    std::uniform_real_distribution<double> uniform_{0.0, 1.0};
};

}  // namespace mutirao::lab
