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

    /// Of the slower of the two uplinks that a message goes through; 0 if there are none.
    double slower_us(int from_host, int to_host, std::size_t length_bytes) const {
        const auto [from, to] = between(from_host, to_host);
        if (from == to) return 0;
        const auto& rates = uplinks_.bytes_per_us;
        return transfer_us(length_bytes, std::min(rates[from], rates[to]));
    }

    /// Waits for both uplinks, each of which is then busy for as long as it takes alone. Returns
    /// when the message begins.
    double occupy(int from_host, int to_host, std::size_t length_bytes, double earliest_us,
                  double latency_us) {
        const auto [from, to] = between(from_host, to_host);
        if (from == to) return earliest_us;
        const auto& rates = uplinks_.bytes_per_us;
        double& out_us = free_us_[from].outgoing_free_us;
        double& in_us = free_us_[to].incoming_free_us;
        const double begin_us = std::max({earliest_us, out_us, in_us - latency_us});
        out_us = begin_us + transfer_us(length_bytes, rates[from]);
        in_us = begin_us + latency_us + transfer_us(length_bytes, rates[to]);
        return begin_us;
    }

  private:
    std::pair<std::size_t, std::size_t> between(int from_host, int to_host) const {
        if (uplinks_.of_host.empty()) return {0, 0};
        return {static_cast<std::size_t>(uplinks_.of_host[static_cast<std::size_t>(from_host)]),
                static_cast<std::size_t>(uplinks_.of_host[static_cast<std::size_t>(to_host)])};
    }

    const Network::Uplinks& uplinks_;
    std::vector<Ports> free_us_;
};

}  // namespace mutirao
