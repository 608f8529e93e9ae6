#include "tool/replay_links.h"

#include <cmath>
#include <limits>

namespace mutirao::tool {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// As the library assumes of hosts that it has not measured.
constexpr HostCosts assumed_costs{10.0, 10.0, 1000.0};

Network unknown_network(int host_count) {
    Network network(host_count);
    for (int a = 0; a < host_count; ++a) {
        network.set_host(a, assumed_costs);
        for (int b = a + 1; b < host_count; ++b) network.set_both(a, b, Link{.latency_us = never});
    }
    return network;
}

}  // namespace

ReplayedLinks::ReplayedLinks(int host_count, const ChangeRule& rule)
    : actual_(unknown_network(host_count)), announced_(actual_) {
    const auto hosts = static_cast<std::size_t>(host_count);
    detectors_.assign(hosts * (hosts - 1) / 2, ChangeDetector(rule));
}

int ReplayedLinks::pass(const TraceSlice& slice, int measurements) {
    int announcements = 0;
    std::size_t link = 0;
    for (int low = 0; low < actual_.host_count(); ++low) {
        for (int high = low + 1; high < actual_.host_count(); ++high, ++link) {
            const double latency_us = slice[link];
            if (std::isnan(latency_us)) continue;
            ChangeDetector& detector = detectors_[link];
            announcements += measured(detector, latency_us, measurements);
            actual_.set_both(low, high, Link{.latency_us = latency_us});
            announced_.set_both(low, high,
                                Link{.latency_us = detector.announced().value_or(never)});
        }
    }
    return announcements;
}

int ReplayedLinks::measured(ChangeDetector& detector, double latency_us, int measurements) {
    if (!std::isfinite(latency_us)) {
        const bool news = detector.announced().value_or(never) != never;
        if (news) detector.unreachable();
        return news ? 1 : 0;
    }
    int announcements = 0;
    for (int i = 0; i < measurements; ++i) announcements += detector.measured(latency_us) ? 1 : 0;
    return announcements;
}

}  // namespace mutirao::tool
