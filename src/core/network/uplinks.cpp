#include "core/network/uplinks.h"

#include <algorithm>

namespace mutirao {

Network::Uplinks uplinks_of(const Network& network, const std::vector<int>& site_of) {
    Network::Uplinks uplinks;
    if (site_of.empty()) return uplinks;
    const int sites = *std::max_element(site_of.begin(), site_of.end()) + 1;
    uplinks.bytes_per_us.assign(static_cast<std::size_t>(sites), 0);
    for (int from = 0; from < network.host_count(); ++from) {
        const int site = site_of[static_cast<std::size_t>(from)];
        double& fastest = uplinks.bytes_per_us[static_cast<std::size_t>(site)];
        for (int to = 0; to < network.host_count(); ++to) {
            if (site_of[static_cast<std::size_t>(to)] == site) continue;
            fastest = std::max(fastest, network.link(from, to).bandwidth_bytes_per_us);
        }
    }
    const auto limited = [](double each) { return std::isfinite(each) && each > 0; };
    if (std::none_of(uplinks.bytes_per_us.begin(), uplinks.bytes_per_us.end(), limited)) return {};
    uplinks.of_host = site_of;
    return uplinks;
}

}  // namespace mutirao
