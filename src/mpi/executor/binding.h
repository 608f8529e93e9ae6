// A call as this rank alone knows it: where its data lie, and how they are combined.
#pragma once

#include <mpi.h>

#include <vector>

#include "core/collectives/call_shape.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {

/// How a call ended. Errors of the MPI library's own functions have been raised already.
struct Outcome {
    int error = MPI_SUCCESS;
    bool to_be_raised = false;
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

/// Makes the memory that a binding names. Returns an MPI error code.
int lay_out(const Binding& binding, Memory& memory);

}  // namespace mutirao::mpi
