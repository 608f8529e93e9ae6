#include "core/selection/trust.h"

#include <algorithm>
#include <limits>

namespace mutirao {
namespace {

/// Where every link is shorter and about as long as the others what counts are costs that are not known well
/// enough.
constexpr double least_long_link_us = 1000;
constexpr double least_uneven_ratio = 4;

bool distances_matter(const Network& network) {
    double shortest_us = std::numeric_limits<double>::infinity(), longest_us = 0;
    for (int a = 0; a < network.host_count(); ++a) {
        for (int b = 0; b < network.host_count(); ++b) {
            if (a == b || !network.link(a, b).usable()) continue;
            const double latency_us = network.link(a, b).latency_us;
            shortest_us = std::min(shortest_us, latency_us);
            longest_us = std::max(longest_us, latency_us);
        }
    }
    return longest_us >= least_long_link_us || longest_us > least_uneven_ratio * shortest_us;
}

}  // namespace

// What the MPI library does for a broadcast is known better than for the others.
std::string distrust(Collective collective, const Network& network) {
    if (network.host_count() <= 1) return "one host";
    if (collective == Collective::broadcast || distances_matter(network)) return {};
    return "no link is long, and all are about as long";
}

}  // namespace mutirao
