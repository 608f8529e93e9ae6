// Where a communicator's network comes from: from a communicator made earlier, from agents that were
// there before the job, or from measuring it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpi/adaptation/host_agent.h"
#include "mpi/communicator/state.h"
#include "mpi/communicator/universe.h"

namespace mutirao::mpi {

struct Learned {
    std::shared_ptr<const Universe> universe;
    std::vector<int> numbers;  ///< of the communicator's hosts, in the universe
};

/// Collective over the communicator, whose hosts are known. `introductions` are equal on all ranks;
/// `warm` is what this rank found. All ranks learn the same; where measuring found hosts that cannot
/// be reached, the universe has no tree.
Learned learn(State& state, const std::vector<Introduction>& introductions,
              const std::optional<WarmAgent>& warm);

}  // namespace mutirao::mpi
