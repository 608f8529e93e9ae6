// Each collective, from the program's arguments to its shape and to what this rank alone knows of it.
// The names are those of interpose/functions.h; `comm` and its communicator are not null.
#pragma once

#include <mpi.h>

#include "mpi/collectives/call.h"

namespace mutirao::mpi {

/// MPI_Bcast (MPI 4.0, section 6.4).
Outcome broadcast(Job& job, const NativeCall& native, void* buffer, MPI_Count count, MPI_Datatype type,
                  int root, MPI_Comm comm);

}  // namespace mutirao::mpi
