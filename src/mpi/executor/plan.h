// A schedule compiled for repeated execution over MPI point-to-point.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.h"
#include "core/schedule/schedule.h"
#include "mpi/executor/background.h"
#include "mpi/executor/datatype.h"
#include "mpi/executor/departures.h"

namespace mutirao::mpi {

/// Steps with their dependents, so that a completion finds at once what it enables. Between two
/// ranks messages are started in step order, and at most `window` of each kind are under way, which
/// bounds the requests without changing what is enabled in the end.
class Plan {
  public:
    static constexpr int window = 256;

    /// Where one execution goes: rank_of[p] is the rank in `comm` of the schedule's peer p.
    struct Route {
        MPI_Comm comm;
        int tag;
        std::span<const int> rank_of;
        Background* background;  ///< goes on while this waits; null: nothing
    };

    /// Schedules with copy or reduce steps are not for this executor: it aborts on them.
    Plan(const Schedule& schedule, const Transport& transport);

    /// Returns when this rank's part is done, but for sends that `departures` takes over. Returns an
    /// MPI error code; requests still under way after an error are left to MPI.
    int execute(PackedMessage& message, const Route& route, Departures& departures);

  private:
    struct Compiled {
        bool send;
        bool detached;  ///< a send that is not waited for
        int peer;
        std::size_t offset_bytes;
        int length_bytes;
        int waits_for;  ///< completions and one start before it
        std::uint32_t first_dependent;
        std::uint32_t dependent_count;
        StepId next_to_peer;  ///< may start once this one has started; -1: none
    };

    void add_window_edges(std::vector<std::vector<StepId>>& dependents);
    void begin();
    int start_ready(PackedMessage& message, const Route& route);
    int start(StepId step, PackedMessage& message, const Route& route);
    std::byte* data_of(const Compiled& step, PackedMessage& message);
    int complete_some(Background* background);
    int wait_for_some(Background* background, int& count);
    void enable(StepId step);
    void drop_completed();

    std::vector<Compiled> steps_;
    std::vector<StepId> dependents_;
    std::vector<StepId> first_;  ///< steps that wait for nothing
    std::size_t detached_count_ = 0;
    std::size_t detached_begin_bytes_ = 0;  ///< the part of the message that detached sends need
    std::size_t detached_end_bytes_ = 0;

    // Working memory of one execution, kept to spare the allocator.
    std::vector<int> waits_for_;
    std::vector<StepId> startable_;
    std::vector<MPI_Request> requests_;
    std::vector<StepId> step_of_request_;
    std::vector<int> completed_;
    std::size_t to_start_ = 0;
    std::size_t to_complete_ = 0;  ///< without detached sends
    std::unique_ptr<std::byte[]> copy_;
};

}  // namespace mutirao::mpi
