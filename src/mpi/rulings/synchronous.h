// The network followed as in paper 000 (Thome and Drummond): inside every K-th call the links are
// measured and the tree is adapted, by MPI messages between the hosts, while the program waits. The
// first time the tree is built (Gallager, Humblet and Spira 1983). Kept for comparison: agents and
// in_band.h do the same beside the program.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "mpi/communicator/members.h"
#include "mpi/communicator/record.h"
#include "mpi/drivers/mailbox.h"
#include "mpi/drivers/maintenance_driver.h"

namespace mutirao::mpi {

class SynchronousAdaptation {
  public:
    SynchronousAdaptation(MPI_Comm twin, int tag, const Members& members, const Settings& settings);

    /// Collective over the ranks that lead a host: the network as it is now, the same on all of them.
    /// Nothing on the other ranks, and where some hosts cannot be reached.
    std::optional<Topology> check(AdaptationRecord& record);

  private:
    void build(AdaptationRecord& record);
    void adapt();
    std::vector<ChangedLink> measure_changes();

    Settings settings_;
    std::optional<Mailbox> mailbox_;    ///< leaders only
    std::optional<Topology> topology_;  ///< since the first check; without a tree if there is none
};

}  // namespace mutirao::mpi
