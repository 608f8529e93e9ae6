// Collectives made of the MPI library's others, on the program's own communicator: the rows of
// src/core/algorithms/catalogue_native.cpp.
#pragma once

#include <mpi.h>

#include "core/algorithms/algorithm.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {

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
