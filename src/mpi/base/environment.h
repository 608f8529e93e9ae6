// What the process runs under, as far as mutirao must know of it. src/preload includes this, too, so it needs no MPI.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace mutirao {

/// True in the process that should print a message meant once per job: rank 0 as its launcher tells it, or any process
/// whose launcher does not.
inline bool speaks_for_job() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* const rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
    }
    return true;
}

/// Of what an MPI library says of itself, which may go on with how it was built: "Open MPI v5.0.11".
inline std::string name_and_version(const std::string& said) { return said.substr(0, said.find_first_of(",\n")); }

/// The file of the library or program that holds an address.
inline std::string object_file_of(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace mutirao

namespace mutirao::mpi {

/// Fault tolerance is switched on: communicators may be revoked, and nothing of ours may then wait on
/// the twin for a rank that is gone. Open MPI says so (`mpirun --with-ft`); MPICH has no such switch.
bool is_fault_tolerant();

/// What carries the MPI library's messages between hosts. UCX prints a line at the end for each message
/// that nobody received, and keeps sends to itself that its peer has no room for until this process
/// calls it again; libfabric's tcp provider gives them to the kernel.
enum class Carrier : unsigned char { ucx, libfabric, other };
Carrier carrier();

/// Sends may be left behind by calls that have returned: their data arrive without further calls.
inline bool may_leave_sends_behind() { return carrier() == Carrier::libfabric; }

/// The MPI library's name and version, e.g. "Open MPI v5.0.11"; so it stands in profiles, too.
std::string library_version();

// What the kernel lets through of what is written to a TCP connection, whatever the network.

/// Of one host, or the least of several.
struct SocketLimits {
    /// Taken from a sender at once, while nothing is acknowledged: about half of a connection's buffer is payload
    /// (tcp(7)). 0 where that cannot be told.
    double buffer_bytes = 0;
    /// Sent at once after a pause; infinite where a pause changes nothing, or where that cannot be told.
    double initial_window_bytes = std::numeric_limits<double>::infinity();
    /// 1: connections are BBR's, on each of the hosts.
    double bbr = 0;

    SocketLimits least_of(const SocketLimits& other) const;
};

/// As they were when first asked for.
SocketLimits limits_of_this_host();

}  // namespace mutirao::mpi
