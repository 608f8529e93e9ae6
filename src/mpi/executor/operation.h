// One run of a plan, which owns all that the run needs: where the call's data lie, scratch memory, counters, requests.
// Where a step becomes a message is here and nowhere else.
//
// Errors. A message that is longer than this rank expects is reported as MPI does, in the class
// MPI_ERR_TRUNCATE, but the run goes on, so that no other rank waits in vain. After any other error receives are
// withdrawn before advance() returns; sends that are under way end by themselves, and read what the operation owns
// for as long (take_sends()).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/base/waiting.h"
#include "mpi/executor/arrival_rate.h"
#include "mpi/executor/left_behind.h"
#include "mpi/executor/memory.h"
#include "mpi/executor/plan.h"

namespace mutirao::mpi {

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
        ArrivalListener* listener = nullptr;
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
    int start_send(const Plan::Step& step, MPI_Request& request);
    int prepare(const Plan::Step& step);
    int finish();
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
    void tell_rate() const;
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
    std::unique_ptr<std::byte[]> copy_;  ///< of what is left behind
    std::vector<LeftBehind::Send> left_;
    ArrivalRate rate_;
    std::size_t to_start_ = 0;
    std::size_t sends_to_start_ = 0;
    std::size_t to_complete_ = 0;  ///< without sends left behind
    int error_ = MPI_SUCCESS;
    bool stopped_ = false;  ///< by an error after which nothing more can be expected
    bool waits_for_first_message_ = false;
};

}  // namespace mutirao::mpi
