// Where the data of a call lies in this rank.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/executor/datatype.h"

namespace mutirao::mpi {

/// How reduce steps combine: with the program's own operator and datatype, whole elements at a time.
struct Reduction {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::size_t unit_bytes = 1;
    bool commutes = true;
};

struct Memory {
    PackedMessage* output = nullptr;
    PackedMessage* input = nullptr;  ///< null: the collective has none
    Reduction reduction{};
};

}  // namespace mutirao::mpi
