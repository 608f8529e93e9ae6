// The job that this process belongs to: which ranks know each other, and the private communicators of them. MPI_Init
// makes none of that, but where the user has calls wait (start=wait): see communicator.h.
#pragma once

#include <mpi.h>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mpi/job/peers.h"
#include "mpi/base/pending.h"
#include "mpi/job/twin.h"

namespace mutirao::mpi {

/// What the start cost this rank by the clock, for the report.
struct StartCost {
    double waited_ms = 0;      ///< of MPI_Init: for the others, and for the network (start=wait)
    double agreed_ms = 0;      ///< of calls: until others had told what they think
    double twin_ms = 0;        ///< of MPI_Init or of calls: making private communicators
    double finalize_ms = 0;    ///< of MPI_Finalize
    double introduced_ms = 0;  ///< after MPI_Init returned: other ranks are known here; 0: never, or in it

    double sum_ms() const { return waited_ms + agreed_ms + twin_ms + finalize_ms; }
};

/// Ranks that are about to get to know each other.
class Meeting {
  public:
    explicit Meeting(MPI_Group group) { PMPI_Group_union(group, MPI_GROUP_EMPTY, &group_); }
    ~Meeting() { PMPI_Group_free(&group_); }
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    MPI_Group group() const { return group_; }

  private:
    MPI_Group group_ = MPI_GROUP_NULL;
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
    /// For as long as it is held, smaller groups need not meet, too. Null: `group` itself is part of such a one.
    std::shared_ptr<Meeting> begin_meeting(MPI_Group group);
    bool has_room_for_twin();
    void add(std::shared_ptr<Peers> peers);
    /// Collective over `comm`. Null: the MPI library makes none.
    std::shared_ptr<Twin> make_twin(MPI_Comm comm, const std::shared_ptr<Peers>& peers);

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

    static inline std::atomic<Job*> current_{nullptr};
    static inline Job* retired_ = nullptr;

    int my_rank_ = 0;
    MPI_Comm quiet_ = MPI_COMM_NULL;
    StartCost cost_;
    double init_us_;
    double begun_us_ = 0;

    std::mutex mutex_;  ///< of what follows
    std::vector<std::shared_ptr<Peers>> peers_;
    std::vector<std::shared_ptr<Twin>> twins_;
    std::vector<std::weak_ptr<Meeting>> meetings_;

    struct Adopted {
        MPI_Comm comm;
        MPI_Request request;
        std::shared_ptr<void> memory;
    };
    std::mutex adopted_mutex_;
    std::list<Adopted> adopted_;
    std::thread::id asking_;  ///< has taken some out meanwhile
};

// modex.cpp: Open MPI's processes learn each other's addresses (the modex) by PMIx, each when it first needs it, and wait
// inside the call for the launcher's host and back: between sites a first broadcast takes seconds for that
// (docs/results.md).

/// Asks PMIx for the addresses of all ranks of MPI_COMM_WORLD that calls may need first, once, and waits for nothing:
/// the MPI library then finds them in the process. All of them up to a size, beyond that those that trees and
/// dissemination lead to. Nothing happens where PMIx is not the way, or the library needs no addresses of TCP.
void fetch_modex_ahead();

}  // namespace mutirao::mpi
