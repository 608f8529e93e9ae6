// The job that this process belongs to: which ranks know each other, and the private communicators of them. MPI_Init
// makes none of that, but where the user has calls wait (start=wait): see communicator.h.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/endpoint.h"
#include "core/selection/decider.h"
#include "mpi/base/pending.h"
#include "mpi/base/world.h"
#include "mpi/executor/execution.h"
#include "mpi/watch/lookout.h"

namespace mutirao::mpi {

// Ranks of the job that know each other: where all of them are, and who measures the network between their hosts. They
// are those of a communicator of the program's, and told each other beside its calls; so no rank need ever know of
// ranks that it does not compute with.

class Peers {
  public:
    /// The ranks of `group`, by what they told of themselves; `endpoint`: that this rank told them of. Calls no MPI.
    Peers(std::shared_ptr<const Group> group, const std::vector<Introduction>& all, int my_rank,
          std::optional<agent::Endpoint> endpoint);
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    /// Equal on all of them, and of no others.
    std::uint64_t id() const { return id_; }
    MPI_Group group() const { return *group_; }
    const World& world() const { return world_; }
    /// When this rank heard of all of them.
    double met_us() const { return met_us_; }
    /// Who measures beside the program; null: nobody does, or not on every host.
    const std::shared_ptr<NetworkSource>& source() const { return source_; }
    /// What probes may cost in calls on `comm`, whose ranks are among these; of communicators of the same ranks one and the same.
    std::shared_ptr<Ledger> ledger_of(MPI_Comm comm) const;
    /// To who reads along, as far as they are asked to (verbose), or wrong.
    void say_who() const;
    /// The job is over everywhere: the agents end.
    void stop_measuring() { source_.reset(); }

  private:
    std::shared_ptr<const Group> group_;
    std::uint64_t id_;
    World world_;
    double met_us_ = now_us();
    std::shared_ptr<NetworkSource> source_;
    mutable std::map<std::vector<int>, std::weak_ptr<Ledger>> ledgers_;  ///< of ranks that are decided for here
    mutable std::mutex ledgers_mutex_;
};

/// What a rank says of itself, and the sockets of the agent that it may become.
struct Introduced {
    Introduction said;
    std::optional<agent::Endpoint> endpoint;
};

class Job;

/// How they come to know each other by MPI.
class Introducing {
  public:
    /// Collective over `comm`; does not block.
    Introducing(MPI_Comm comm, Job& job);

    Pending& pending() { return pending_; }
    /// Once complete.
    std::shared_ptr<Peers> take();

  private:
    struct Memory {
        std::vector<Introduction> all;  ///< by rank
        std::optional<agent::Endpoint> endpoint;
    };

    Pending tell_all();

    MPI_Comm comm_;
    Job& job_;
    std::shared_ptr<const Group> group_;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
    Pending pending_;
};

// How the tags of a twin are shared out. Every communicator that mutirao handles has a slot of its own: a few tags for
// what its ranks tell each other, the others for the data of its calls.

/// A communicator's tags, for as long as it has them. Slot 0 is that of the one that the twin was made for.
class Slot {
  public:
    static constexpr int tags = 256;

    /// `owner` tells the communicators of a job apart that have the same slot one after the other.
    explicit Slot(int number, std::uint64_t owner = 0) : first_tag_(number * tags), owner_(owner) {}

    int number() const { return first_tag_ / tags; }
    std::uint64_t owner() const { return owner_; }
    int announcements() const { return first_tag_; }  ///< from the decider to all
    int reports() const { return first_tag_ + 1; }    ///< from all to the decider
    int synchronous() const { return first_tag_ + 2; }  ///< measuring and adapting while calls wait
    int in_band() const { return first_tag_ + 3; }      ///< the same beside the calls
    int connections() const { return first_tag_ + 4; }  ///< between ranks that are about to need each other
    /// Of the data of one call. MPI keeps the order between two ranks, so a tag may be used again.
    int of_call(std::uint64_t call) const {
        constexpr std::uint64_t of_calls = tags - reserved;
        return first_tag_ + reserved + static_cast<int>(call % of_calls);
    }

  private:
    static constexpr int reserved = 5;
    int first_tag_;
    std::uint64_t owner_;
};

/// How many slots there are below the largest tag that the MPI library allows (at least 32767 by MPI
/// 4.0, section 9.1.2), and not more than any program needs.
constexpr int slot_count(int largest_tag) {
    constexpr int most_slots = 8192;
    return std::min((largest_tag - Slot::tags + 1) / Slot::tags + 1, most_slots);
}

/// Which slots this rank may offer to a communicator. Ranks agree on one that all of them offered, and one that is
/// offered to a pending agreement is offered to no other.
class Slots {
  public:
    explicit Slots(int count) : taken_(static_cast<std::size_t>(count), false) {
        taken_[0] = true;  // that of the communicator that the twin was made for
    }

    /// A set of slots, as bits: bit i is the i-th of 64 places that `who` is given to choose from, the
    /// same on all ranks that name the same `who`. A few of those that are free here, taken from now:
    /// few enough that several communicators of the same ranks can agree at the same time.
    std::uint64_t offer(std::uint64_t who);
    /// The slot of the lowest bit of `agreed` stays taken and is returned, the rest of what was
    /// offered is given back; -1 where nothing is agreed.
    int settle(std::uint64_t who, std::uint64_t offered, std::uint64_t agreed);
    void give_back(int slot);

  private:
    static constexpr int choices = 64;
    static constexpr int most_offered = 8;

    std::size_t place(std::uint64_t who, int choice) const;

    std::mutex mutex_;
    std::vector<bool> taken_;
};

/// A private communicator of ranks of the job, on which all messages of mutirao travel: what ranks tell each other, and
/// the data of the calls that run by its algorithms. On the program's own communicators they could not: a receive with
/// wildcards would take them. It is made when that pays, for a communicator that computes, and serves all within it.
class Twin {
  public:
    /// Null if the MPI library makes none. Collective over `comm`, whose ranks are all among `peers`.
    /// `number`: equal on all ranks, and of no other twin.
    static std::shared_ptr<Twin> make(MPI_Comm comm, std::shared_ptr<Peers> peers, std::uint64_t number);

    MPI_Comm comm() const { return comm_; }
    MPI_Group group() const { return group_; }
    int my_rank() const { return world_.my_rank; }
    int rank_count() const { return world_.rank_count(); }
    /// Equal on all ranks, and of no other twin.
    std::uint64_t id() const { return id_; }
    const std::shared_ptr<Peers>& peers() const { return peers_; }
    const World& world() const { return world_; }
    /// What measures the network; null: nothing does.
    const std::shared_ptr<NetworkSource>& source() const { return source_; }

    Slots& slots() { return slots_; }
    LeftBehind& left_behind() { return left_behind_; }

    /// At the end all that was sent over it is completed: first everywhere begun, then waited for.
    void begin_farewell();
    void end_farewell();
    /// The job is over everywhere.
    void stop_measuring() { source_.reset(); }

  private:
    Twin(MPI_Comm comm, std::shared_ptr<Peers> peers, std::uint64_t number);

    MPI_Comm comm_;
    Group group_;
    std::shared_ptr<Peers> peers_;
    World world_;
    std::uint64_t id_;
    std::shared_ptr<NetworkSource> source_;
    Slots slots_;
    LeftBehind left_behind_;
    MPI_Request farewell_ = MPI_REQUEST_NULL;
};

/// What the start cost this rank by the clock, for the report.
struct StartCost {
    double waited_ms = 0;      ///< of MPI_Init: for the others, and for the network (start=wait)
    double agreed_ms = 0;      ///< of calls: until others had told what they think
    double twin_ms = 0;        ///< of MPI_Init or of calls: making private communicators
    double finalize_ms = 0;    ///< of MPI_Finalize
    double introduced_ms = 0;  ///< after MPI_Init returned: other ranks are known here; 0: never, or in it
    bool by_launcher = false;  ///< they were told by it

    double sum_ms() const { return waited_ms + agreed_ms + twin_ms + finalize_ms; }
};

class Job {
  public:
    /// Of each, on a rank. Communicators beyond are the MPI library's.
    static constexpr std::size_t most_twins = 4;

    /// When MPI_Init has returned, after so long, before the program goes on.
    static void begin(double init_ms);
    /// Null where the MPI library must take all calls: see why_native().
    static Job* current() { return current_.load(std::memory_order_acquire); }
    /// Why there is no job; empty if there is one.
    static const std::string& why_native();
    /// At the beginning of MPI_Finalize: from now on the MPI library takes all calls. The job, if there
    /// was one; to be finished when no communicator uses it any more.
    static Job* retire();
    /// Completes what would otherwise be left to MPI_Finalize.
    void finish();
    /// When MPI_Finalize has returned, and so all ranks have entered it: ends this process' agent.
    static void stop_measuring();

    int my_rank() const { return my_rank_; }
    /// Of this process alone; MPI returns errors on it.
    MPI_Comm quiet() const { return quiet_; }

    /// Who know each other and hold all of `group`; the largest such, the same on all of them once all know. Null: none.
    std::shared_ptr<Peers> peers_of(MPI_Group group);
    std::shared_ptr<Twin> twin_of(MPI_Group group);
    bool has_room_for_peers();
    /// What this rank says of itself to those of MPI_COMM_WORLD, the same however they come to hear of it.
    const Introduction& introduction();
    /// Those ranks, by what all have said; made once, by the first thread that has heard of it; null after the job. Calls no MPI.
    std::shared_ptr<Peers> whole(const std::vector<Introduction>& all, bool by_launcher);
    /// The launcher is asked for all ranks of MPI_COMM_WORLD, once.
    void ask_launcher();
    /// They know each other from now on, if it has told of all; true: it has, or may do so soon.
    bool meets_by_launcher();
    /// The ranks of `comm` are about to get to know each other: as long as that is held, smaller groups need not meet,
    /// too. Null: they themselves are part of such a one.
    std::shared_ptr<Group> begin_meeting(MPI_Comm comm);
    bool has_room_for_twin();
    void add(std::shared_ptr<Peers> peers);
    /// Collective over `comm`. Null: the MPI library makes none.
    std::shared_ptr<Twin> make_twin(MPI_Comm comm, const std::shared_ptr<Peers>& peers, std::uint64_t number);
    /// Of a communicator or a twin: of no other in the job. 0 is that of a twin made in MPI_Init.
    std::uint64_t new_number() { return (static_cast<std::uint64_t>(my_rank_) << 32) + ++numbers_; }

    const StartCost& start_cost() const { return cost_; }
    /// Until others had told what they think.
    void waited_in_call(double ms);
    double begun_us() const { return begun_us_; }
    /// For so long that connecting a few ranks with each other is little beside it. How long that takes nobody knows yet,
    /// but it takes the same trips as launching them.
    bool has_lasted() const;

    /// What nobody waits for any more, before MPI_Finalize; of a communicator that may be freed meanwhile.
    void adopt(Pending& pending);
    /// Before `comm` is freed: by UCX, Open MPI goes on with what is under way there as if it still were.
    void complete_on(MPI_Comm comm);
    void progress();

  private:
    explicit Job(double init_ms);

    void wait_in_init();
    void wait_for_network(Twin& twin);

    std::atomic<std::uint32_t> numbers_{0};
    static inline std::atomic<Job*> current_{nullptr};
    static inline Job* retired_ = nullptr;

    int my_rank_;
    MPI_Comm quiet_ = MPI_COMM_NULL;
    StartCost cost_;
    double init_us_;
    double begun_us_ = 0;

    std::mutex mutex_;  ///< of what follows
    const std::shared_ptr<const Group> all_ = std::make_shared<Group>(MPI_COMM_WORLD);
    std::vector<std::shared_ptr<Peers>> peers_;
    std::vector<std::shared_ptr<Twin>> twins_;
    std::vector<std::weak_ptr<Group>> meetings_;

    std::mutex whole_mutex_;
    std::optional<Introduced> introduced_;
    std::shared_ptr<Peers> whole_;
    bool is_over_ = false;  ///< what is heard from now on comes too late
    std::atomic<bool> told_by_launcher_{false};  ///< whole_ is there, and was heard of so

    std::mutex adopted_mutex_;
    std::list<Pending> adopted_;
    std::thread::id asking_;  ///< has taken some out meanwhile
};

}  // namespace mutirao::mpi
