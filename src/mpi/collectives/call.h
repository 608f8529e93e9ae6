// The way of one call of a collective, from its shape to its end.
#pragma once

#include <mpi.h>

#include <utility>

#include "core/collectives/call_shape.h"
#include "mpi/communicator/registry.h"

namespace mutirao::mpi {

/// The call as the program made it, on the MPI library's own function.
class NativeCall {
  public:
    template <typename Function>
    explicit NativeCall(Function& function)
        : function_(&function), call_([](void* it) { return (*static_cast<Function*>(it))(); }) {}

    int operator()() const { return call_(function_); }

  private:
    void* function_;
    int (*call_)(void*);
};

/// How a call ended. Errors of the MPI library's own functions have been raised already.
struct Outcome {
    int error = MPI_SUCCESS;
    bool to_be_raised = false;
};

/// Enters the communicator with `shape` and runs the call as is ruled there: natively, or by
/// `execute(execution, tag, surroundings)`.
template <typename Execute>
Outcome run(Communicator& communicator, const CallShape& shape, const NativeCall& native,
            Execute&& execute) {
    const Communicator::Turn turn = communicator.enter(shape);
    Outcome outcome;
    if (turn.execution == nullptr) {
        outcome.error = native();
    } else {
        outcome.error = execute(*turn.execution, turn.tag, communicator.surroundings());
        outcome.to_be_raised = outcome.error != MPI_SUCCESS;
    }
    communicator.leave(turn);
    return outcome;
}

}  // namespace mutirao::mpi
