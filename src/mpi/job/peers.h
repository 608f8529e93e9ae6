// Ranks of the job that know each other: where all of them are, and who measures the network between their hosts. They
// are those of a communicator of the program's, and told each other beside its calls; so no rank need ever know of
// ranks that it does not compute with.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "agent/endpoint.h"
#include "core/selection/decider.h"
#include "mpi/base/pending.h"
#include "mpi/base/world.h"
#include "mpi/watch/lookout.h"

namespace mutirao::mpi {

class Peers {
  public:
    /// `group`: of those that introduced themselves, in that order; owned. `endpoint`: that this rank told them of.
    Peers(MPI_Group group, const std::vector<Introduction>& all, int my_rank,
          std::optional<agent::Endpoint> endpoint);
    ~Peers();
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    /// Equal on all of them, and of no others.
    std::uint64_t id() const { return id_; }
    MPI_Group group() const { return group_; }
    const World& world() const { return world_; }
    /// Who measures beside the program; null: nobody.
    const std::shared_ptr<NetworkSource>& source() const { return source_; }
    /// The same for deciders; null where source() is.
    const std::shared_ptr<Lookout>& lookout() const { return lookout_; }
    /// What probes may cost in calls on `comm`, whose ranks are among these; of communicators of the same ranks one and the same.
    std::shared_ptr<Ledger> ledger_of(MPI_Comm comm) const;
    /// The job is over everywhere: the agents end.
    void stop_measuring();

  private:
    void start_source(const std::vector<Introduction>& all, std::optional<agent::Endpoint> endpoint);

    MPI_Group group_;
    std::uint64_t id_;
    World world_;
    std::shared_ptr<NetworkSource> source_;
    std::shared_ptr<Lookout> lookout_;
    mutable std::map<std::vector<int>, std::weak_ptr<Ledger>> ledgers_;  ///< of ranks that are decided for here
    mutable std::mutex ledgers_mutex_;
};

/// How they come to know each other.
class Introducing {
  public:
    /// Collective over `comm`; does not block.
    explicit Introducing(MPI_Comm comm);

    Pending& pending() { return pending_; }
    /// Once complete.
    std::shared_ptr<Peers> take();

  private:
    struct Memory {
        std::vector<std::uint64_t> words;  ///< of all introductions, by rank
        std::optional<agent::Endpoint> endpoint;
    };

    MPI_Comm comm_;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
    Pending pending_;
};

}  // namespace mutirao::mpi
