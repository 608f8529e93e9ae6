// MPI_Bcast, from the program's arguments to the schedule that carries it.
#pragma once

#include <mpi.h>

namespace mutirao::mpi {

/// The arguments of MPI_Bcast or MPI_Bcast_c (MPI 4.0, section 6.4).
struct BroadcastCall {
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
    int root;
    MPI_Comm comm;
    bool large_count;  ///< came in through MPI_Bcast_c
};

using NativeBroadcast = int (*)(const BroadcastCall&);

/// Runs the call by the algorithm that all ranks decide on alike; `native` is one of them, and
/// takes every call that is not ours: intercommunicators, one host, no data, wrong arguments.
/// Returns an MPI error code after invoking the communicator's error handler.
int broadcast(const BroadcastCall& call, NativeBroadcast native);

}  // namespace mutirao::mpi
