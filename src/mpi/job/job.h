// The job that this process belongs to: MPI_COMM_WORLD's private twin, on which all messages of mutirao
// travel, what the ranks told each other over it, and who measures the network.
//
// The twin is duplicated inside MPI_Init, before the program runs: MPI_Comm_idup would go on with
// collectives of its own on MPI_COMM_WORLD beside those of the program, which MPI libraries mix up
// (docs/results.md). Introductions then travel beside the program.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/endpoint.h"
#include "core/selection/decider.h"
#include "mpi/executor/arrival_rate.h"
#include "mpi/executor/left_behind.h"
#include "mpi/job/grid_allgather.h"
#include "mpi/job/slots.h"
#include "mpi/job/world.h"
#include "mpi/rulings/lookout.h"
#include "mpi/tags.h"

namespace mutirao::mpi {

/// What the start cost this rank, for the report.
struct StartCost {
    double twin_ms = 0;           ///< of MPI_Init: making the twin
    double waited_ms = 0;         ///< of MPI_Init: for the network (start=wait)
    double introduced_ms = 0;     ///< after MPI_Init returned: all ranks are known here
};

class Job final : public ArrivalListener {
  public:
    /// When MPI_Init has returned, before the program goes on; collective over MPI_COMM_WORLD.
    static void begin();
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

    MPI_Comm twin() const { return twin_; }
    MPI_Group world_group() const { return world_group_; }
    int my_rank() const { return my_rank_; }
    int rank_count() const { return rank_count_; }

    /// Looks whether everybody has introduced themselves, if that is not known; does not block.
    bool introduced() {
        return world_ready_.load(std::memory_order_acquire) || look_for_introductions();
    }
    /// Waits for it; only where it is known that everybody has, or nothing else may go on.
    void wait_for_introductions();
    /// Once introduced().
    const World& world() const { return world_; }
    /// What measures the network; null: nobody, or everybody is not known yet.
    std::shared_ptr<NetworkSource> source() const;
    /// The same for deciders; null where source() is.
    std::shared_ptr<Lookout> lookout() const;

    void saw(int twin_rank, double bytes_per_us) override;

    /// What probes may cost in calls of these ranks of the job; of communicators of the same ranks one and the same.
    std::shared_ptr<Ledger> ledger_of(const std::vector<int>& twin_ranks);

    Slots& slots() { return slots_; }
    /// Of a slot: equal to no other of this job. 0 is MPI_COMM_WORLD.
    std::uint64_t new_owner() { return (static_cast<std::uint64_t>(my_rank_) << 32) + ++owners_; }
    LeftBehind& left_behind() { return left_behind_; }
    const StartCost& start_cost() const { return cost_; }
    double begun_us() const { return begun_us_; }

    /// Requests of communicators that were freed meanwhile, with what they read and write.
    void adopt(MPI_Request request, std::shared_ptr<void> memory);
    void progress();

  private:
    explicit Job(MPI_Comm twin);

    void start_introductions();
    bool look_for_introductions();
    void take_introductions();
    void start_source();
    void wait_for_network();
    void wait_for_everybody();
    void receive_what_is_left();

    static inline std::atomic<Job*> current_{nullptr};
    static inline Job* retired_ = nullptr;

    MPI_Comm twin_;
    MPI_Group world_group_ = MPI_GROUP_NULL;
    int my_rank_ = 0;
    int rank_count_ = 1;
    Slots slots_;
    std::atomic<std::uint32_t> owners_{0};
    LeftBehind left_behind_;
    StartCost cost_;
    double begun_us_ = 0;

    std::mutex mutex_;  ///< of what follows, until world_ready_
    GridAllgather<Introduction> introductions_;
    std::optional<agent::Endpoint> endpoint_;
    World world_;
    std::shared_ptr<NetworkSource> source_;
    std::shared_ptr<Lookout> lookout_;
    std::atomic<bool> world_ready_{false};

    std::map<std::vector<int>, std::weak_ptr<Ledger>> ledgers_;  ///< of ranks that communicators decide for here
    std::mutex ledgers_mutex_;

    struct Adopted {
        MPI_Request request;
        std::shared_ptr<void> memory;
    };
    std::mutex adopted_mutex_;
    std::list<Adopted> adopted_;
};

}  // namespace mutirao::mpi
