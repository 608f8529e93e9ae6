// Where the decider of a communicator learns what became of the network.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/selection/selection.h"
#include "mpi/adaptation/host_agent.h"

namespace mutirao::mpi {

/// The agent of this host, as a communicator sees it.
class NetworkSource {
  public:
    /// hosts[h]: the agents' number of the communicator's host h. This rank is on the first.
    NetworkSource(std::shared_ptr<const HostAgent> agent, std::vector<int> hosts)
        : agent_(std::move(agent)), hosts_(std::move(hosts)) {}

    /// What has become of `agreed`; nothing if nothing has changed since the last look.
    std::optional<Topology> look(const Topology& agreed);

  private:
    std::shared_ptr<const HostAgent> agent_;
    std::vector<int> hosts_;
    std::optional<agent::ViewReader> view_;  ///< nothing until the agent is there
    std::uint64_t seen_ = 0;
};

}  // namespace mutirao::mpi
