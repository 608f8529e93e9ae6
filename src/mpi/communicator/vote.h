// What the ranks of a communicator find out of each other beside its calls, a few words combined by a nonblocking
// allreduce: whether mutirao may handle it, by which private communicator and under which slot of its tags, or, where
// there is none, whether one would pay. Rank 0 says what pays; the others agree.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "mpi/job/job.h"
#include "mpi/base/pending.h"
#include "mpi/base/slots.h"

namespace mutirao::mpi {

class Vote {
  public:
    /// What one rank says of itself.
    struct Opinion {
        bool willing = true;  ///< nothing stands against it here
        bool meets = true;    ///< to get to know each other pays
        bool pays = true;     ///< a private communicator pays
        std::shared_ptr<Peers> peers;  ///< who know each other, with all ranks of this communicator; null: none
        std::shared_ptr<Twin> twin;    ///< the same, with a private communicator
    };

    /// Collective over `comm`; does not block.
    Vote(MPI_Comm comm, const Opinion& mine);

    Pending& pending() { return pending_; }

    // Once complete; the same on all ranks, but for texts.
    /// Why the MPI library takes all calls for good; empty: they need not.
    std::string obstacle() const;
    bool is_at_odds() const;
    /// All have the same twin.
    bool has_twin() const { return all_say(has_twin_flag) && all().twin == ~all().not_twin; }
    const std::shared_ptr<Twin>& twin() const { return memory_->twin; }
    /// The slot of it that all have offered; nothing: they offered different ones.
    std::optional<Slot> settle() const;
    /// All know each other, as they do among these.
    const std::shared_ptr<Peers>& peers() const { return memory_->peers; }
    bool knows() const { return all_say(knows_flag) && all().peers == ~all().not_peers; }
    bool meets() const { return all_say(meets_flag); }
    bool pays() const { return all_say(pays_flag); }

  private:
    static constexpr std::uint64_t enabled_flag = 1, disabled_flag = 2, willing_flag = 4, knows_flag = 8,
                                   has_twin_flag = 16, meets_flag = 32, pays_flag = 64;

    /// Of different values neither these nor their complements stay what they were.
    struct Ballot {
        std::uint64_t flags, settings, not_settings, peers, not_peers, twin, not_twin, offered, owner;
    };
    struct Memory {
        Ballot mine, all;
        std::shared_ptr<Peers> peers;
        std::shared_ptr<Twin> twin;  ///< that slots are offered of
        std::uint64_t who = 0;       ///< equal on the ranks, different for other groups of ranks
        bool settled = false;

        ~Memory();
    };

    const Ballot& all() const { return memory_->all; }
    bool all_say(std::uint64_t flag) const { return (all().flags & flag) != 0; }
    /// Of one version, with the same settings.
    bool runs_alike() const { return all().settings == ~all().not_settings; }
    Pending begin(MPI_Comm comm);

    std::shared_ptr<Memory> memory_;
    Pending pending_;
};

}  // namespace mutirao::mpi
