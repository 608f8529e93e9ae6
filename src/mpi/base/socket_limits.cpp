#include "mpi/base/socket_limits.h"

#include <algorithm>
#include <cstdio>

namespace mutirao::mpi {
namespace {

/// Linux makes the buffer of a connection as large as twice its initial window, with what it adds to each
/// segment; by tcp_wmem's middle value it may be larger. Seen: 46,336 bytes are taken at once.
constexpr double least_buffer_bytes = 46080;

/// RFC 6928's ten segments, in Ethernet frames of 1500 bytes with time stamps.
constexpr double initial_window_bytes = 10 * 1448;

/// The number in that place of one of the kernel's settings; 0 if there is none.
double number_in(const char* path, int place) {
    double number = 0;
    if (std::FILE* const file = std::fopen(path, "r")) {
        for (int i = 0; i <= place; ++i) {
            if (std::fscanf(file, "%lf", &number) != 1) {
                number = 0;
                break;
            }
        }
        std::fclose(file);
    }
    return number;
}

}  // namespace

SocketLimits SocketLimits::least_of(const SocketLimits& other) const {
    return {std::min(buffer_bytes, other.buffer_bytes),
            std::min(initial_window_bytes, other.initial_window_bytes)};
}

SocketLimits limits_of_this_host() {
    SocketLimits limits;
    if (const double initial_bytes = number_in("/proc/sys/net/ipv4/tcp_wmem", 1); initial_bytes > 0) {
        limits.buffer_bytes = std::max(initial_bytes, least_buffer_bytes) / 2;
    }
    if (number_in("/proc/sys/net/ipv4/tcp_slow_start_after_idle", 0) != 0) {
        limits.initial_window_bytes = initial_window_bytes;
    }
    return limits;
}

}  // namespace mutirao::mpi
