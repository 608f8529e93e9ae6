// The way of one call of a collective, from what the program gave to its end.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/communicator/communicator.h"
#include "mpi/executor/memory.h"

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

/// Where a call is made.
struct Place {
    MPI_Comm quiet;  ///< of this process alone; it returns errors
    int rank;
    int size;
};

/// Where the program names memory to be read that is written too. The MPICH family refuses what it sees
/// of that, on the ranks that it concerns; Open MPI reads first. Neither is left to the MPI library by one
/// rank alone, where others cannot know of it.
#if defined(OPEN_MPI)
constexpr bool refuses_one_place = false;
#else
constexpr bool refuses_one_place = true;
#endif

/// Nothing where the MPI library is to judge: what it refuses, and what no schedule can hold. A buffer that
/// may be in place and is, is no buffer.
std::optional<Elements> elements(const void* buffer, MPI_Count count, MPI_Datatype type,
                                 MPI_Comm quiet);

/// Enters the communicator, which is that of `comm`, and runs the call as is ruled there.
Outcome run(Communicator& communicator, const Binding& binding, MPI_Comm comm, MPI_Comm quiet, const NativeCall& native);

}  // namespace mutirao::mpi
