// What the decider of a communicator sees of its network.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/selection/selection.h"
#include "mpi/adaptation/network_source.h"

namespace mutirao::mpi {

/// A source, in a communicator's numbers of hosts.
class Outlook {
  public:
    /// hosts[h]: the source's number of the communicator's host h. This rank is on the first.
    Outlook(std::shared_ptr<NetworkSource> source, std::vector<int> hosts)
        : source_(std::move(source)), hosts_(std::move(hosts)) {}

    /// What has become of `agreed`; nothing if nothing has changed since the last look.
    std::optional<Topology> look(const Topology& agreed);

  private:
    std::shared_ptr<NetworkSource> source_;
    std::vector<int> hosts_;
    std::uint64_t seen_ = 0;
};

}  // namespace mutirao::mpi
