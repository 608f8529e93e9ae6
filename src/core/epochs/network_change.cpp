#include "core/epochs/network_change.h"

namespace mutirao {

NetworkChange difference(const Topology& agreed, const Topology& newest) {
    NetworkChange change;
    const int hosts = agreed.network.host_count();
    for (int low = 0; low < hosts; ++low) {
        for (int high = low + 1; high < hosts; ++high) {
            const double latency_us = newest.network.link(low, high).latency_us;
            if (latency_us == agreed.network.link(low, high).latency_us) continue;
            if (change.links.size() == most_changed_links) break;
            change.links.push_back({low, high, latency_us});
        }
    }
    if (newest.spanning_tree != agreed.spanning_tree) change.spanning_tree = newest.spanning_tree;
    return change;
}

void apply(const NetworkChange& change, Topology& topology) {
    for (const NetworkChange::Link& changed : change.links) {
        for (const auto& [from, to] : {std::pair(changed.low, changed.high),
                                       std::pair(changed.high, changed.low)}) {
            Link link = topology.network.link(from, to);
            link.latency_us = changed.latency_us;
            topology.network.set_link(from, to, link);
        }
    }
    if (change.spanning_tree) topology.spanning_tree = *change.spanning_tree;
    if (!change.links.empty()) topology.site_of = discover_sites(topology.network);
}

}  // namespace mutirao
