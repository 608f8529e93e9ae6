// The way of one call of a collective, from what the program gave to its end.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "core/collectives/call_shape.h"
#include "mpi/communicator/registry.h"
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

/// How a call ended. Errors of the MPI library's own functions have been raised already.
struct Outcome {
    int error = MPI_SUCCESS;
    bool to_be_raised = false;
};

/// Where a call is made.
struct Place {
    MPI_Comm twin;
    int rank;
    int size;
};

/// What the call asks for, and what this rank alone knows of it.
struct Binding {
    enum class Reads : unsigned char {
        nothing,
        input,
        copy,   ///< of the input, since its memory is written
        blocks  ///< the input's
    };
    enum class Writes : unsigned char {
        nothing,
        output,
        unseen,       ///< a block in place, that the program has already
        blocks,       ///< the output's
        received,     ///< what came is passed on
        passed_on     ///< what is there is passed on
    };

    CallShape shape;
    Reads reads = Reads::nothing;
    Writes writes = Writes::nothing;
    Elements input{};
    Elements output{};
    std::vector<Elements> input_blocks{};  ///< that are not one behind another in memory
    std::vector<Elements> output_blocks{};
    Reduction reduction{};
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
                                 MPI_Comm twin);

/// The `index`-th block of so many elements.
Elements nth(const Elements& blocks, int index, MPI_Count count);

/// Enters the communicator and runs the call as is ruled there.
Outcome run(Communicator& communicator, const Binding& binding, MPI_Comm twin,
            const NativeCall& native);

/// `bind`: from a Place to a Binding; nothing for calls that are the MPI library's and do not count, on
/// all ranks of a correct program alike.
template <typename Bind>
Outcome take(Job& job, MPI_Comm comm, const NativeCall& native, Bind&& bind) {
    if (comm == MPI_COMM_NULL) {
        return {native(), false};
    }
    Communicator& communicator = communicator_of(comm, job);
    if (communicator.is_native()) {
        return {native(), false};
    }
    const Place place{job.twin(), communicator.my_rank(), communicator.rank_count()};
    const std::optional<Binding> binding = bind(place);
    return binding ? run(communicator, *binding, job.twin(), native) : Outcome{native(), false};
}

}  // namespace mutirao::mpi
