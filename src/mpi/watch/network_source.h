// Where a process learns what becomes of the network: from its host's agent (host_agent.h), or by
// messages inside the program's own calls (in_band.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/spanning_tree/rounds.h"
#include "mpi/base/waiting.h"

namespace mutirao::mpi {

class NetworkSource {
  public:
    virtual ~NetworkSource() = default;

    /// What this host knows, if that is more than it knew when NetworkView::changes was `seen`.
    /// Nothing, too, while there is nobody to ask.
    virtual std::optional<NetworkView> newer_than(std::uint64_t seen) = 0;

    /// Whether newer_than() ever tells this process anything.
    virtual bool readable_here() const { return true; }

    /// Who watches the network for this process, said after "on host 1, ".
    virtual std::string about() const = 0;

    /// A message came from another host no slower than the path to here allows. Does not block.
    virtual void saw(int /*host*/, double /*bytes_per_us*/) {}

    /// What needs to run while this process is inside calls; null: nothing.
    virtual Background* background() { return nullptr; }
};

}  // namespace mutirao::mpi
