// What the process runs under, as far as mutirao must know of it.
#pragma once

namespace mutirao::mpi {

/// Fault tolerance is switched on: communicators may be revoked, and nothing of ours may then wait on
/// the twin for a rank that is gone. Open MPI says so (`mpirun --with-ft`); MPICH has no such switch.
bool is_fault_tolerant();

/// The MPI library uses UCX, which prints a line at the end for each message that nobody received.
bool warns_of_unreceived_messages();

/// A GPU's run time is in the process, so that a buffer may be memory that the processor cannot read.
bool gpu_runtime_loaded();

}  // namespace mutirao::mpi
