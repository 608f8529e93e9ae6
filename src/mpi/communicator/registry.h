// Finds what mutirao holds of a communicator: an attribute on it, and the communicators of this thread's
// last calls, so that a repeated call costs a comparison.
#pragma once

#include <mpi.h>

#include "mpi/communicator/communicator.h"

namespace mutirao::mpi {

int make_communicator_key();

/// Made at the communicator's first call; lives until the program frees it, or MPI ends.
Communicator& communicator_of(MPI_Comm comm, Job& job);

/// Ends what the living communicators hold. For the beginning of MPI_Finalize.
void end_communicators();

}  // namespace mutirao::mpi
