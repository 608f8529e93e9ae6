// The network followed as in paper 000 (Thome and Drummond): inside every K-th broadcast the links
// are measured and the tree is adapted, by MPI messages between the hosts, while the program waits.
// Kept for comparison: agents and in_band.h do the same beside the program.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/epochs/network_change.h"
#include "core/settings/settings.h"
#include "mpi/communicator/record.h"
#include "mpi/drivers/mailbox.h"

namespace mutirao::mpi {

class SynchronousAdaptation {
  public:
    /// All but `settings` outlive it.
    SynchronousAdaptation(MPI_Comm comm, const Hosts& hosts, Record& record,
                          const Settings& settings);

    /// Before every call, numbered from 0; collective at every K-th. True if record.topology has
    /// changed, on all ranks alike.
    bool enter(std::uint64_t call);

  private:
    /// What became of the links, in the eyes of all leaders alike.
    std::vector<NetworkChange::Link> measure_changes();
    NetworkChange find_change();
    NetworkChange share_on_host(NetworkChange change) const;

    const Hosts& hosts_;
    Record& record_;
    Settings settings_;
    std::optional<Mailbox> mailbox_;  ///< leaders only
};

}  // namespace mutirao::mpi
