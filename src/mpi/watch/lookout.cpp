#include "mpi/watch/lookout.h"

#include <utility>

#include "mpi/watch/topology.h"

namespace mutirao::mpi {

std::optional<Sighting> Lookout::newer_than(std::uint64_t seen, const std::vector<int>& hosts) {
    const std::lock_guard lock(mutex_);
    std::erase_if(latest_, [](const auto& each) { return each.second.topology.expired(); });
    const auto found = latest_.find(hosts);
    // From here on it lives, whoever lets it go meanwhile.
    std::shared_ptr<const Topology> held =
        found == latest_.end() ? nullptr : found->second.topology.lock();
    if (const auto view = source_->newer_than(held ? found->second.changes : seen)) {
        return look(*view, hosts);
    }
    if (!held || found->second.changes == seen) {
        return std::nullopt;
    }
    const Latest& latest = found->second;
    return Sighting{latest.changes, std::move(held), latest.all_known, latest.memory};
}

Sighting Lookout::look(const NetworkView& view, const std::vector<int>& hosts) {
    Sighting sighting{view.changes, nullptr, false, memory_costs_of(view, here_)};
    if (std::optional<Topology> topology = topology_of(view, hosts, here_)) {
        complete_network(*topology, settings_, sockets_);
        // What was never measured may yet be; what its agents have given up will not be.
        sighting.all_known = view.unknown_links == 0 || all_known(*topology);
        sighting.topology = std::make_shared<const Topology>(std::move(*topology));
    }
    latest_[hosts] = {sighting.changes, sighting.topology, sighting.all_known, sighting.memory};
    return sighting;
}

}  // namespace mutirao::mpi
