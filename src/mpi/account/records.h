// The records of all communicators of this process, from which the report is written.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "mpi/account/record.h"

namespace mutirao::mpi {

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

struct Records {
    std::mutex mutex;  ///< threads may make communicators at once
    /// Of MPI_COMM_WORLD, then of all that live, and of those that were freed the first ones and the newest.
    std::list<std::shared_ptr<Record>> kept;
    Sums forgotten;  ///< of all others
};

Records& records();

/// Keeps a communicator's record for the report.
void remember(const std::shared_ptr<Record>& record, bool of_world);
/// The communicator is freed: where records are many, of the oldest such only the sums are kept.
void note_end(Record& record);

}  // namespace mutirao::mpi
