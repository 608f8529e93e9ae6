// What the setting `summary` prints at the end of a program, in one line: how many calls ran by mutirao's
// algorithms, what that saved on each rank and how it is known, and what mutirao cost; where none did, why.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/communicator/record.h"

namespace mutirao::mpi {

class Job;
struct Runtime;

/// What all communicators that are remembered come to.
struct Sums {
    bool enabled = true;            ///< by the settings
    bool tries = true;              ///< by the settings
    std::uint64_t calls = 0;        ///< on communicators that are not native for good, whose calls nobody counts
    Handled handled;                ///< of them
    std::uint64_t most_native = 0;  ///< calls of one kind
    std::string why_native;         ///< those
    double waited_ms = 0;           ///< inside calls, for what mutirao was to say or to measure
    std::uint64_t forgotten_communicators = 0;

    /// `record` is locked.
    void add(const Record& record);
};

/// `runtime`: null without MPI_Init. `job`: null where the MPI library took all calls.
std::string summary(Runtime* runtime, const Job* job);

/// `start_ms`: what MPI_Init took longer.
std::string summary(const Sums& sums, double start_ms);

}  // namespace mutirao::mpi
