// What one collective leaves behind for the next: how far TCP has opened the windows of the ranks' connections,
// and until when links and ports are busy. A prediction takes none of it, since it is for calls that come alone;
// a simulated program hands it from call to call.
#pragma once

#include <cstddef>
#include <vector>

#include "core/schedule/tcp_stream.h"
#include "core/schedule/uplink_use.h"

namespace mutirao {

/// Times are those of the walks that it is handed to, so these must have one clock.
struct Connections {
    Connections(int ranks, int hosts)
        : rank_count(static_cast<std::size_t>(ranks)),
          streams(rank_count * rank_count),
          link_free_us(rank_count * rank_count, 0),
          ports(static_cast<std::size_t>(hosts)) {}

    /// Of the messages from one rank to another.
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * rank_count + static_cast<std::size_t>(to);
    }

    std::size_t rank_count;
    std::vector<TcpStream> streams;
    std::vector<double> link_free_us;
    std::vector<Ports> ports;  ///< by host
};

}  // namespace mutirao
