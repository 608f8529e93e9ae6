// When and what the ranks of a communicator find out of each other beside its calls.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/collectives/collective.h"
#include "mpi/base/pending.h"
#include "mpi/job/job.h"

namespace mutirao::mpi {

/// At which calls the ranks of a communicator look whether mutirao should handle it: known to all of them from the calls
/// alone, for nobody knows what time it is elsewhere. A unit is a call, or so many bytes of one. The first point is after
/// 32 units, or in a first call of as many, then whenever there were a quarter more.
///
/// Points lie in calls in which all ranks wait for each other anyway, so that ranks may wait there for what they began
/// to tell each other at the point before. In a program that makes no such calls they lie later: in calls in which all
/// follow a root, since who follows can be told by it whether there is anything to wait for; and in others, where some
/// run ahead of who cannot tell them, only seldom, unless the user said that it pays soon.
class Points {
  public:
    static constexpr std::int64_t usual_first_units = 32;
    static constexpr std::size_t unit_bytes = std::size_t{1} << 16;

    /// `in_any_call`: ranks wait for each other in calls that would not do so by themselves.
    explicit Points(std::int64_t first_units = usual_first_units, bool seldom = true, bool in_any_call = false)
        : interval_units_(first_units), seldom_(seldom), in_any_call_(in_any_call) {}

    /// Of all blocks that a rank has or gets, if it has several.
    static std::int64_t units_of(const CallShape& shape, int ranks) {
        const InBlocks in_blocks = row_of(shape.collective).in_blocks;
        const bool all_know = in_blocks != InBlocks::none && in_blocks != InBlocks::own;
        const std::size_t blocks = all_know ? static_cast<std::size_t>(ranks) : 1;
        return 1 + static_cast<std::int64_t>(shape.length_bytes * blocks / unit_bytes);
    }

    /// Before a call that begins when so many units are left until the next point, or none; true: it is the point. So is
    /// the first one that is as long as all until the first point: what ranks tell each other beside it costs little.
    bool lies_in(const CallShape& shape, std::int64_t left_units, int ranks) const {
        const std::int64_t late_units = most_late_units(shape);
        const bool as_long = units_ == 0 && late_units == 0 && units_of(shape, ranks) >= interval_units_;
        return as_long || left_units <= -late_units;
    }

    /// How much later than wished a point may lie in such a call.
    std::int64_t most_late_units(const CallShape& shape) const {
        if (in_any_call_) return 0;
        switch (shape.collective) {
            // No rank returns before all have come, whatever they pass.
            case Collective::barrier: return 0;
            case Collective::allreduce:
            case Collective::allgather:
            case Collective::alltoall:
            case Collective::reduce_scatter_block: return shape.empty() ? interval_units_ / 2 : 0;
            // Some return before others have come.
            case Collective::reduce:
            case Collective::gather:
            case Collective::gatherv:
            case Collective::scan:
            case Collective::exscan: return seldom_ ? 16 * interval_units_ : interval_units_ / 2;
            default: return interval_units_ / 2;
        }
    }

    /// Until the next point, from one that was so late.
    std::int64_t next(std::int64_t left_units) {
        units_ += interval_units_ - left_units;
        return interval_units_ = std::max<std::int64_t>(units_ / 4, 1);
    }

    /// Up to the last point.
    std::int64_t units() const { return units_; }

    /// No rank returns before the root has come, which waits for none.
    static bool follows_root(Collective collective) {
        return collective == Collective::broadcast || collective == Collective::scatter ||
               collective == Collective::scatterv;
    }

  private:
    std::int64_t units_ = 0;
    std::int64_t interval_units_;
    bool seldom_;
    bool in_any_call_;
};

/// What the ranks of a communicator find out of each other beside its calls, a few words combined by a nonblocking
/// allreduce: whether mutirao may handle it, by which private communicator and under which slot of its tags, or, where
/// there is none, whether one would pay. Rank 0 says what pays; the others agree.
class Vote {
  public:
    /// What a rank may say.
    enum Says : std::uint64_t {
        enabled = 1,
        disabled = 2,
        willing = 4,   ///< nothing stands against it here
        meets = 32,    ///< to get to know each other pays
        pays = 64,     ///< a private communicator pays
        /// So long that to wait for the next vote inside a call is little beside it, once. Rank 0's: and it cannot say
        /// yet what pays.
        calls_last = 128,
        tells_in_time = 256,  ///< what is announced in a call is known everywhere in the next one
        waits_for_launcher = 512,  ///< it may soon know of all ranks of MPI_COMM_WORLD by the launcher
    };

    /// What one rank says of itself, beside what follows from its peers, its twin and the settings.
    struct Opinion {
        std::uint64_t said = 0;
        std::uint64_t number = 0;      ///< Job::new_number(); that of rank 0 is agreed on
        std::shared_ptr<Peers> peers;  ///< who know each other, with all ranks of this communicator; null: none
        std::shared_ptr<Twin> twin;    ///< the same, with a private communicator

        void say(Says what, bool is_so) { said = is_so ? said | what : said & ~what; }
    };

    /// Collective over `comm`; does not block.
    Vote(MPI_Comm comm, const Opinion& mine);

    Pending& pending() { return pending_; }

    // Once complete; the same on all ranks, but for texts.
    bool all_say(Says what) const { return (all().said & what) != 0; }
    /// Why the MPI library takes all calls for good; empty: they need not.
    std::string obstacle() const;
    bool is_at_odds() const;
    /// All have the same twin.
    bool all_have_twin() const { return all().twin != 0 && all().twin == ~all().not_twin; }
    /// Of the slot's owner, or of the twin to be made.
    std::uint64_t number() const { return all().owner; }
    const std::shared_ptr<Twin>& twin() const { return memory_->twin; }
    /// The slot of it that all have offered; nothing: they offered different ones.
    std::optional<Slot> settle() const;
    /// All know each other, as they do among these.
    const std::shared_ptr<Peers>& peers() const { return memory_->peers; }
    bool all_know_each_other() const { return all().peers != 0 && all().peers == ~all().not_peers; }

  private:
    /// Of different values neither these nor their complements stay what they were. 0: no peers, no twin.
    struct Ballot {
        std::uint64_t said, settings, not_settings, peers, not_peers, twin, not_twin, offered, owner;
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
    /// Of one version, with the same settings.
    bool runs_alike() const { return all().settings == ~all().not_settings; }
    Pending begin(MPI_Comm comm, const Opinion& mine);

    std::shared_ptr<Memory> memory_;
    Pending pending_;
};

}  // namespace mutirao::mpi
