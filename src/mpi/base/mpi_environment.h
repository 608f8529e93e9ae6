// What the process runs under, as far as mutirao must know of it.
#pragma once

#include <string>

namespace mutirao::mpi {

/// Fault tolerance is switched on: communicators may be revoked, and nothing of ours may then wait on
/// the twin for a rank that is gone. Open MPI says so (`mpirun --with-ft`); MPICH has no such switch.
bool is_fault_tolerant();

/// What carries the MPI library's messages between hosts. UCX prints a line at the end for each message
/// that nobody received, and keeps sends to itself that its peer has no room for until this process
/// calls it again; libfabric's tcp provider gives them to the kernel.
enum class Carrier : unsigned char { ucx, libfabric, other };
Carrier carrier();

/// A GPU's run time is in the process, so that a buffer may be memory that the processor cannot read.
bool gpu_runtime_loaded();

/// Sends may be left behind by calls that have returned: their data can be copied, and arrive without
/// further calls.
inline bool may_leave_sends_behind() {
    return !gpu_runtime_loaded() && carrier() == Carrier::libfabric;
}

/// The MPI library's name and version, e.g. "Open MPI v5.0.11"; so it stands in profiles, too.
std::string library_version();

}  // namespace mutirao::mpi
