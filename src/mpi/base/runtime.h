// What one process holds of mutirao, whatever the communicator: what the environment says.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

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

// What the setting `verbose` says while the program runs: whole lines, "[host:rank] mutirao: ...", on stderr,
// and no more of them than a log should have.
//
//   1  rank 0: versions, libraries, ranks and hosts
//   2  rank 0: each choice as it takes effect
//   3  every rank: who watches the network, from when on it is known, communicators that are taken on

/// Says it, if lines of that level are said by this rank. Not before MPI_Init has returned.
void say(int level, const std::string& what);

/// At level 1: the first lines of a job.
void say_what_is_loaded();

// The functions behind ours: the MPI library's, or those of a tool that was preloaded after us.

/// The next definition of `name` after what is preloaded of ours, in the search order; null if there is none.
void* next_function(const char* name);

template <typename Function>
Function next(const char* name) {
    void* const address = next_function(name);
    Function function = nullptr;
    static_assert(sizeof address == sizeof function);
    std::memcpy(&function, &address, sizeof address);
    return function;
}

/// To standard error, in one write(2), so that lines of several ranks do not mix; what is too long for that is cut.
void write_line(std::string line);

}  // namespace mutirao::mpi
