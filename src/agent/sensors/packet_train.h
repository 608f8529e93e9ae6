// How fast a link is, from the spacing with which packets arrive that were sent back to back: packet
// dispersion (Dovrolis, Ramanathan and Moore 2004, doi:10.1109/TNET.2004.838606). The narrowest place
// of the path sets the spacing, however long the path is: no window has to open, as that of TCP would
// in a burst.
//
// Limits: what other traffic sends meanwhile makes a link look slower; whoever lets a burst pass before
// it limits (a token bucket) makes it look faster, so the first quarter of a train does not count; and
// links that are faster than hosts send show what the hosts can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mutirao::agent {

struct PacketArrival {
    int number = 0;  ///< in the order of sending
    std::int64_t time_ns = 0;
};

/// Of a train whose packets take so many bytes each. Nothing if too few came in a row, or all at once.
std::optional<double> train_bytes_per_us(std::span<const PacketArrival> arrivals,
                                         double packet_bytes);

}  // namespace mutirao::agent
