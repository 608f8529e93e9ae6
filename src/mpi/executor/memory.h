// Where the data of a call lies in this rank, as the steps of a schedule name it.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "core/schedule/schedule.h"
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
    std::byte* scratch = nullptr;
    Reduction reduction{};

    std::byte* at(Buffer buffer, std::size_t offset_bytes) const {
        switch (buffer) {
            case Buffer::input: return input->data() + offset_bytes;
            case Buffer::output: return output->data() + offset_bytes;
            case Buffer::scratch: break;
        }
        return scratch + offset_bytes;
    }
};

}  // namespace mutirao::mpi
