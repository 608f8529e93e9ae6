// What the setting `summary` prints at the end of a program, in one line: how much faster or slower its collectives
// were than the MPI library's own, as far as that was measured, net of all that mutirao cost; how many calls ran by
// its algorithms; where none did, why. The setting `explain` adds a line for each kind of call.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/communicator/record.h"

namespace mutirao::mpi {

class Job;
struct Runtime;

/// What communicators come to.
struct Sums {
    bool enabled = true;            ///< by the settings
    std::uint64_t calls = 0;        ///< on communicators that are not native for good, whose calls nobody counts
    std::uint64_t own_calls = 0;    ///< of them, by mutirao's algorithms
    std::uint64_t probe_calls = 0;  ///< of those, on probe
    bool compared = false;          ///< there is an account of some
    Account account;
    std::uint64_t most_native = 0;  ///< calls of one kind
    std::string why_native;         ///< those
    double waited_ms = 0;           ///< inside calls, for what mutirao was to say or to measure
    std::uint64_t forgotten_communicators = 0;  ///< that only these sums tell of

    /// `record` is locked.
    void add(const Record& record);
};

/// `runtime`: null without MPI_Init. `job`: null where the MPI library took all calls.
std::string summary(Runtime* runtime, const Job* job);

/// `start_ms`: what MPI_Init took longer.
std::string summary(const Sums& sums, double start_ms);

/// The same arguments as for a summary.
std::string explanation(Runtime* runtime, const Job* job);

/// Of one communicator; `record` is locked.
std::string explanation(const Record& record);

}  // namespace mutirao::mpi
