// A schedule compiled for repeated execution over MPI point-to-point.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"
#include "mpi/executor/datatype.h"

namespace mutirao::mpi {

/// Steps with their dependents, so that a completion finds at once what it enables. Between two
/// ranks messages are started in step order, and at most `window` of each kind are under way, which
/// bounds the requests without changing what is enabled in the end.
class Plan {
  public:
    static constexpr int window = 32;

    /// Schedules with copy or reduce steps are not for this executor: it aborts on them.
    explicit Plan(const Schedule& schedule);

    /// rank_of[p]: the rank in `comm` of the schedule's peer p. Returns an MPI error code; requests
    /// still under way after an error are left to MPI.
    int execute(PackedMessage& message, MPI_Comm comm, int tag, std::span<const int> rank_of);

    bool empty() const { return steps_.empty(); }

  private:
    struct Compiled {
        bool send;
        int peer;
        std::size_t offset_bytes;
        int length_bytes;
        int waits_for;  ///< completions and one start before it
        std::uint32_t first_dependent;
        std::uint32_t dependent_count;
        StepId next_to_peer;  ///< may start once this one has started; -1: none
    };

    void add_window_edges(std::vector<std::vector<StepId>>& dependents);
    int start(StepId step, PackedMessage& message, MPI_Comm comm, int tag,
              std::span<const int> rank_of);
    void enable(StepId step);
    void drop_completed();

    std::vector<Compiled> steps_;
    std::vector<StepId> dependents_;
    std::vector<StepId> first_;  ///< steps that wait for nothing

    // Working memory of one execution, kept to spare the allocator.
    std::vector<int> waits_for_;
    std::vector<StepId> startable_;
    std::vector<MPI_Request> requests_;
    std::vector<StepId> step_of_request_;
    std::vector<int> completed_;
};

}  // namespace mutirao::mpi
