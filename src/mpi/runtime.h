// What one process holds of mutirao, whatever the communicator: its settings, its attribute keys, and
// the records that the report is written from.
#pragma once

#include <mpi.h>

#include <list>
#include <memory>
#include <mutex>

#include "core/settings/settings.h"
#include "mpi/communicator/record.h"
#include "mpi/summary.h"
#include "profile/profile_store.h"

namespace mutirao::mpi {

struct Runtime {
    Settings settings;
    std::uint64_t settings_hash = 0;  ///< to see whether all ranks run with the same
    std::shared_ptr<profile::ProfileStore> profile;  ///< null: none is used
    int communicator_key = MPI_KEYVAL_INVALID;
    int datatype_key = MPI_KEYVAL_INVALID;

    std::mutex mutex;  ///< guards what follows: threads may make communicators at once
    /// Of MPI_COMM_WORLD, then of all that live, and of those that were freed the first ones and the newest.
    std::list<std::shared_ptr<Record>> records;
    Sums forgotten;  ///< of all others
};

/// The process' runtime, made when MPI_Init has returned.
Runtime& runtime();

/// What the environment says; needs no MPI.
const Settings& settings_of_environment();

/// Keeps a communicator's record for the report.
void remember(const std::shared_ptr<Record>& record, bool of_world);
/// The communicator is freed: where records are many, of the oldest such only the sums are kept.
void note_end(Record& record);

/// Ends the process with exit code 2 and one line if the environment holds a wrong setting. Needs
/// no MPI, so that it can speak before any communication.
void check_settings();

/// Invokes the communicator's error handler, as MPI's own functions do, and returns the code.
int raise_on(MPI_Comm comm, int error);

}  // namespace mutirao::mpi
