// From when on the sites' uplinks are free, as the predictor's walk takes them for its messages.
// Hosts that share an uplink do not use it between each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/network/network.h"

namespace mutirao {

inline double transfer_us(std::size_t length_bytes, double bytes_per_us) {
    return length_bytes == 0 ? 0 : static_cast<double>(length_bytes) / bytes_per_us;
}

/// Free times, one per direction.
struct Ports {
    double outgoing_free_us = 0;
    double incoming_free_us = 0;
};

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
        free_us = begin_us + transfer_us(length_bytes, uplinks_.bytes_per_us[uplink]);
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

}  // namespace mutirao
