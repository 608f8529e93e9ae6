// What the deciders of this process see of the network: for the hosts of each communicator a topology,
// made once for all communicators of the same hosts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/network/rank_network.h"
#include "core/settings/settings.h"
#include "mpi/base/socket_limits.h"
#include "mpi/watch/network_source.h"

namespace mutirao::mpi {

struct Sighting {
    std::uint64_t changes = 0;  ///< of the source, NetworkView::changes
    /// Null if this process' host reaches nobody.
    std::shared_ptr<const Topology> topology;
    /// No link between the hosts may yet be measured for the first time.
    bool all_known = false;
    MemoryCosts memory;
};

class Lookout {
  public:
    /// here: the source's number of this process' host.
    Lookout(std::shared_ptr<NetworkSource> source, int here, const Settings& settings,
            const SocketLimits& sockets)
        : source_(std::move(source)), here_(here), settings_(settings),
          sockets_(sockets) {}

    /// The newest, if that is not the one with `seen` changes. hosts[h]: the source's number of host h.
    std::optional<Sighting> newer_than(std::uint64_t seen, const std::vector<int>& hosts);

  private:
    /// As long as somebody holds its topology.
    struct Latest {
        std::uint64_t changes = 0;
        std::weak_ptr<const Topology> topology;
        bool all_known = false;
        MemoryCosts memory;
    };

    Sighting look(const NetworkView& view, const std::vector<int>& hosts);

    const std::shared_ptr<NetworkSource> source_;
    const int here_;
    const Settings settings_;
    const SocketLimits sockets_;
    std::mutex mutex_;
    std::map<std::vector<int>, Latest> latest_;  ///< by hosts
};

}  // namespace mutirao::mpi
