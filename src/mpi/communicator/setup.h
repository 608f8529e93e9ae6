// The making of a communicator's state: who shares a host, what the links cost, the spanning tree.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/communicator/state.h"

namespace mutirao::mpi {

/// Collective over `comm`; every rank comes to the same result. Where anything stands against
/// mutirao (one host, different settings, hosts that cannot be reached) the state is native and its
/// record says why.
std::unique_ptr<State> set_up(MPI_Comm comm);

}  // namespace mutirao::mpi
