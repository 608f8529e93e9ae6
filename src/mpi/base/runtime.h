// What one process holds of mutirao, whatever the communicator: what the environment says.
#pragma once

#include <cstdint>
#include <memory>

#include "core/settings/settings.h"
#include "profile/profile_store.h"

namespace mutirao::mpi {

struct Runtime {
    Settings settings;
    std::uint64_t settings_hash = 0;  ///< to see whether all ranks run with the same
    std::shared_ptr<profile::ProfileStore> profile;  ///< null: none is used
};

/// Made when it is first asked for, once MPI_Init has returned.
const Runtime& runtime();

/// What the environment says; needs no MPI.
const Settings& settings_of_environment();

/// Ends the process with exit code 2 and one line if the environment holds a wrong setting. Needs
/// no MPI, so that it can speak before any communication.
void check_settings();

}  // namespace mutirao::mpi
