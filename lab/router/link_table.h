// When a packet from one host is due at another: the delay, bandwidth, loss and jitter of every
// ordered pair of hosts, and the uplink that the hosts of a site share, which limits what leaves
// the site and, separately, what enters it. No socket and no clock, so that it can be reasoned
// about alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
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
    /// The last host is the control host. It is as far from the others as the first one is; apart from that its links
    /// are ideal, and not counted as the lab's.
    explicit LinkTable(int host_count);

    /// Hosts without the control host.
    int host_count() const { return host_count_; }

    /// When a packet that was sent at `sent` is due, or nothing if it is lost. Packets of a pair
    /// stay in order, except that those sent after a link became faster may overtake.
    std::optional<Nanoseconds> admit(int from, int to, std::size_t bytes, Nanoseconds sent);

    /// Whether `enter` has a say when an admitted packet is due.
    bool limits_entry(int from, int to) const;
    /// When a packet has entered its site whose last bit is there at `arrived`; nothing if it is
    /// dropped. To be asked in the order of arrival, which differs from that of sending.
    std::optional<Nanoseconds> enter(int from, int to, std::size_t bytes, Nanoseconds arrived);

    /// The site of each host, from 0; until told, all are in one. Uplinks begin unlimited.
    void set_sites(std::vector<int> site_of_host);
    int site_count() const { return static_cast<int>(uplinks_.size()); }
    double uplink_mbit(int site) const { return uplinks_[static_cast<std::size_t>(site)].mbit; }
    void set_uplink(int site, double mbit);

    const LinkSettings& settings(int from, int to) const { return link(from, to).settings; }
    void set(int from, int to, const LinkSettings& settings);
    const LinkCounters& counters(int from, int to) const { return link(from, to).counters; }
    void count_drop(int from, int to);

  private:
    static constexpr Nanoseconds long_ago = std::numeric_limits<Nanoseconds>::min();

    /// In front of a wire that takes one packet after the other; drops what it cannot hold.
    struct Queue {
        Nanoseconds free_at = long_ago;

        /// When a packet begins to leave whose first bit is there at `first`.
        std::optional<Nanoseconds> begin(double mbit, std::size_t bytes, Nanoseconds first);
    };
    struct Link {
        LinkSettings settings;
        LinkCounters counters;
        Queue queue;
        Nanoseconds last_due = long_ago;
    };
    struct Uplink {
        double mbit = 0;  ///< 0: unlimited
        Queue leaving;
        Queue entering;
    };

    bool controls(int host) const { return host == host_count_; }
    Nanoseconds control_delay(int from, int to);
    std::optional<Nanoseconds> leave(Link& link, Uplink* uplink, std::size_t bytes,
                                     Nanoseconds sent);
    /// That of `host`; null where it is not on the way or unlimited.
    const Uplink* uplink_of(int host, int other) const;
    Uplink* uplink_of(int host, int other) {
        return const_cast<Uplink*>(std::as_const(*this).uplink_of(host, other));
    }
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(host_count_) +
               static_cast<std::size_t>(to);
    }
    Link& link(int from, int to) { return links_[index(from, to)]; }
    const Link& link(int from, int to) const { return links_[index(from, to)]; }

    int host_count_;
    std::vector<Link> links_;
    std::vector<int> site_of_host_;
    std::vector<Uplink> uplinks_;
    std::mt19937_64 random_{1};
    std::uniform_real_distribution<double> uniform_{0.0, 1.0};
};

}  // namespace mutirao::lab
