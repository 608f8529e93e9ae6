// A schedule over MPI point-to-point: a Plan is one compiled for repeated execution, immutable, with ranks of the twin
// bound in, and shared by all Operations by it. An Operation is one run, which owns all that the run needs: where the
// call's data lie, scratch memory, counters, requests. Where a step becomes a message is there and nowhere else.
//
// Errors. A message that is longer than this rank expects is reported as MPI does, in the class
// MPI_ERR_TRUNCATE, but the run goes on, so that no other rank waits in vain. After any other error receives are
// withdrawn before advance() returns; sends that are under way end by themselves, and read what the operation owns
// for as long (take_sends()).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/network/network.h"
#include "core/schedule/schedule.h"
#include "mpi/base/waiting.h"
#include "mpi/base/world.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {

/// Steps with their dependents, so that a completion finds at once what it enables. Between two
/// ranks messages are started in step order, and at most `window` of each kind are under way, which
/// bounds the requests without changing what is enabled in the end.
class Plan {
  public:
    static constexpr int window = 256;

    struct Step {
        StepKind kind;
        bool left_behind;   ///< a send that is not waited for
        bool source_first;  ///< reduce: target = source op target
        Buffer source_buffer;
        Buffer target_buffer;
        int rank;  ///< of the peer in the twin
        int length_bytes;
        std::size_t source_bytes;  ///< offsets
        std::size_t target_bytes;
        int waits_for;  ///< completions and one start before it
        std::uint32_t first_dependent;
        std::uint32_t dependent_count;
        StepId next_to_peer;  ///< may start once this one has started; -1: none
        std::size_t copy_bytes = 0;  ///< left behind: where in the copy its data are put
    };

    /// Begins a step, or waits for its message.
    struct Move {
        StepId step;
        int awaited_request;  ///< the so-many-th message begun, from 0; -1: begins
    };

    /// The members' placement is known. `transport` tells which sends need not be waited for. `lengths_are_room`: what
    /// comes may be shorter than what is expected.
    Plan(const Schedule& schedule, const Transport& transport, const Members& members, bool lengths_are_room = false);

    std::span<const Step> steps() const { return steps_; }
    std::span<const StepId> dependents(const Step& step) const {
        return std::span(dependents_).subspan(step.first_dependent, step.dependent_count);
    }
    /// Steps that wait for nothing.
    std::span<const StepId> first() const { return first_; }
    std::size_t scratch_bytes() const { return scratch_bytes_; }
    /// The whole plan in the order in which it runs anyway, where that does not depend on which message
    /// comes first, so that nothing need be kept account of while it runs: a place in a tree, of a message
    /// in one piece, or exchanges with one partner after another. Sends that nothing waits for are awaited
    /// at the end. Empty: this plan has no such order.
    std::span<const Move> straight_line() const { return straight_line_; }

    std::size_t send_count() const { return send_count_; }
    bool lengths_are_room() const { return lengths_are_room_; }
    std::size_t left_behind_count() const { return left_behind_count_; }
    /// Of the copy from which sends left behind go; those of the same bytes share them.
    std::size_t copy_bytes() const { return copy_bytes_; }

    std::size_t memory_bytes() const {
        return sizeof *this + steps_.capacity() * sizeof(Step) +
               (dependents_.capacity() + first_.capacity()) * sizeof(StepId) +
               straight_line_.capacity() * sizeof(Move);
    }

  private:
    struct Copied {
        Region region;
        std::size_t copy_bytes;
    };
    std::size_t place_of_copy(const Region& region, std::vector<Copied>& copied);
    void add_steps(const Schedule& schedule, const std::vector<bool>& detached,
                   std::span<const int> twin_rank_of);
    void find_straight_line();
    void add_order_and_window(std::vector<std::vector<StepId>>& dependents);
    std::vector<Step> steps_;
    std::vector<StepId> dependents_;
    std::vector<StepId> first_;
    std::size_t scratch_bytes_;
    bool lengths_are_room_;
    std::vector<Move> straight_line_;
    std::size_t send_count_ = 0;
    std::size_t left_behind_count_ = 0;
    std::size_t copy_bytes_ = 0;
};

// Collectives made of the MPI library's others, on the program's own communicator: the rows of
// src/core/algorithms/catalogue_native.cpp.

struct CallOnComm : Place {
    const Binding& binding;
    MPI_Comm comm;
};

using NativeComposition = Outcome (*)(const CallOnComm& call);

/// Null for what is none.
NativeComposition native_composition(const Algorithm& algorithm);

/// Sends that a rank has left behind in finished collectives: their data is a copy, and the MPI library
/// completes them while later calls go on. A receiver may depend on their arrival although this rank
/// makes no further MPI call, so no more is left behind to a peer, over all calls and communicators,
/// than the kernel takes from this process at once.
class LeftBehind {
  public:
    explicit LeftBehind(std::size_t most_bytes_per_peer) : most_bytes_(most_bytes_per_peer) {}
    LeftBehind(const LeftBehind&) = delete;
    LeftBehind& operator=(const LeftBehind&) = delete;

    struct Send {
        MPI_Request request;
        int peer;  ///< its rank in the twin
        std::size_t length_bytes;
    };

    /// Takes over sends and the copy that they read; waits for older ones to the same peers where
    /// more than the kernel takes would be under way.
    void add(std::vector<Send> sends, std::shared_ptr<const void> copy);
    /// Sends of which nobody knows whether they will ever be complete, after an error, and the memory that they read.
    void abandon(const std::vector<MPI_Request>& sends, std::shared_ptr<const void> memory);
    /// Forgets what is complete; cheap where nothing was left behind.
    void reap();
    /// Waits for everything but what was abandoned; before MPI ends.
    void wait();

  private:
    struct Departed {
        std::vector<Send> sends;  ///< that are not complete
        std::shared_ptr<const void> memory;
    };
    /// That are looked after: a program seldom goes on after many errors.
    static constexpr std::size_t most_abandoned = 16;

    bool test(Departed& departed);
    void test_all(std::deque<Departed>& some);
    static void leave_to_mpi(Departed& abandoned);
    bool too_much() const;

    const std::size_t most_bytes_;
    std::mutex mutex_;  ///< threads may run calls on different communicators
    std::deque<Departed> departed_;
    std::deque<Departed> abandoned_;
    std::unordered_map<int, std::size_t> bytes_to_peer_;
};

/// Memory that is kept from run to run, to spare the allocator, but not long beyond what is used.
class Scratch {
  public:
    std::byte* data() const { return bytes_.get(); }
    void hold(std::size_t bytes) {
        constexpr std::size_t always_kept = std::size_t{1} << 18;
        constexpr int most_idle_runs = 32;
        const bool mostly_idle = capacity_ > always_kept && bytes < capacity_ / 4;
        idle_runs_ = mostly_idle ? idle_runs_ + 1 : 0;
        if (bytes > capacity_ || idle_runs_ > most_idle_runs) {
            bytes_.reset();
            bytes_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
            capacity_ = bytes;
            idle_runs_ = 0;
        }
    }

  private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t capacity_ = 0;
    int idle_runs_ = 0;
};

class Operation {
  public:
    /// What is the same for all operations of one communicator.
    struct Surroundings {
        MPI_Comm twin = MPI_COMM_NULL;
        LeftBehind* left_behind = nullptr;
        Background* background = nullptr;  ///< goes on while a call waits; null: nothing
    };

    /// Where the call's data lie: made anew, to be laid out before the run. Errors are raised on `comm`.
    Memory& memory(MPI_Comm comm) { return memory_.emplace(comm); }

    /// Until this rank's part is done, but for sends that are left behind. Returns MPI_SUCCESS or the
    /// class of the first error.
    int run(const Plan& plan, int tag, const Surroundings& surroundings);

    /// The same in pieces: begin once, then advance until it returns true; the result is error(). Until
    /// then plan and surroundings stay where they are.
    void begin(const Plan& plan, int tag, const Surroundings& surroundings);
    bool advance();
    int error() const { return error_; }

    /// After an error: what is still under way, and reads what this operation owns.
    std::vector<MPI_Request> take_sends() {
        std::erase(requests_, MPI_REQUEST_NULL);
        return std::exchange(requests_, {});
    }
    /// After the run, and without sends under way: what belongs to the call.
    void release() { memory_.reset(); }

    /// Nothing has come yet of what this rank must have before it can do anything.
    bool waits_for_first_message() const { return waits_for_first_message_; }
    /// What is sent now goes behind all messages of the run.
    bool has_begun_all_sends() const { return sends_to_start_ == 0; }

  private:
    std::byte* at(Buffer buffer, std::size_t offset_bytes);
    void start_over(const Plan& plan, int tag, const Surroundings& surroundings);
    int run_straight_line();
    void begin_in_line(StepId id);
    void await_in_line(const Plan::Move& move);
    void await_sends();
    void let_others_run(Patience& patience);
    void start_ready();
    void start(StepId step);
    bool begins(const Plan::Step& step, MPI_Request& request);
    int start_send(const Plan::Step& step, MPI_Request& request);
    int prepare(const Plan::Step& step);
    int start_receive(const Plan::Step& step, MPI_Request& request);
    int do_locally(const Plan::Step& step);
    int reduce(const std::byte* source, std::byte* target, std::size_t length_bytes,
               bool source_first);
    const std::byte* data_to_send(const Plan::Step& step);
    void complete(StepId step);
    void enable(StepId step);
    bool complete_some();
    void take_status(const Plan::Step& step, const MPI_Status& status, int error);
    void fail(int error);
    void withdraw();
    void drop_completed();
    void leave_behind();
    bool ended() const { return to_start_ == 0 && to_complete_ == 0; }

    const Plan* plan_ = nullptr;
    std::optional<Memory> memory_;
    int tag_ = 0;
    const Surroundings* surroundings_ = nullptr;

    // Kept from run to run, to spare the allocator.
    std::vector<int> waits_for_;
    std::vector<StepId> startable_;
    std::vector<MPI_Request> requests_;
    std::vector<StepId> step_of_request_;
    std::vector<int> completed_;
    std::vector<MPI_Status> statuses_;
    Scratch scratch_;
    Scratch swapped_;                    ///< a reduction's, whose target is the first operand
    std::shared_ptr<std::byte[]> copy_;  ///< of what is left behind
    std::vector<LeftBehind::Send> left_;
    std::size_t to_start_ = 0;
    std::size_t sends_to_start_ = 0;
    std::size_t to_complete_ = 0;  ///< without sends left behind
    int error_ = MPI_SUCCESS;
    bool stopped_ = false;  ///< by an error after which nothing more can be expected
    bool waits_for_first_message_ = false;
};

}  // namespace mutirao::mpi
