// What the kernel lets through of what is written to a TCP connection, whatever the network.
#pragma once

#include <limits>

namespace mutirao::mpi {

/// Of one host, or the least of several.
struct SocketLimits {
    /// Taken from a sender at once, while nothing is acknowledged: about half of a connection's buffer is payload
    /// (tcp(7)). 0 where that cannot be told.
    double buffer_bytes = 0;
    /// Sent at once after a pause; infinite where a pause changes nothing, or where that cannot be told.
    double initial_window_bytes = std::numeric_limits<double>::infinity();

    SocketLimits least_of(const SocketLimits& other) const;
};

SocketLimits limits_of_this_host();

}  // namespace mutirao::mpi
