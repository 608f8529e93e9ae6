// A schedule compiled for repeated execution over MPI point-to-point: immutable, with ranks of the twin
// bound in, and shared by all operations by it (operation.h).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/network/network.h"
#include "core/schedule/schedule.h"
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

    /// The members' placement is known. `transport` tells which sends need not be waited for.
    Plan(const Schedule& schedule, const Transport& transport, const Members& members);

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

    /// The twin's rank from which most comes, in pieces, if that is enough for an ArrivalRate; -1: none.
    int main_source() const { return main_source_; }

    std::size_t send_count() const { return send_count_; }
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
    void find_main_source();
    void find_straight_line();
    void add_order_and_window(std::vector<std::vector<StepId>>& dependents);
    std::vector<Step> steps_;
    std::vector<StepId> dependents_;
    std::vector<StepId> first_;
    std::size_t scratch_bytes_;
    std::vector<Move> straight_line_;
    int main_source_ = -1;
    std::size_t send_count_ = 0;
    std::size_t left_behind_count_ = 0;
    std::size_t copy_bytes_ = 0;
};

// Collectives made of the MPI library's others, on the program's own communicator: the rows of
// src/core/algorithms/catalogue_native.cpp.

struct CallOnComm {
    const Binding& binding;
    MPI_Comm comm;
    int rank;
    int size;
    MPI_Comm quiet;  ///< of this process alone; it returns errors
};

using NativeComposition = Outcome (*)(const CallOnComm& call);

/// Null for what is none.
NativeComposition native_composition(const Algorithm& algorithm);

}  // namespace mutirao::mpi
