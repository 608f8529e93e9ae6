// Finds what mutirao holds of a communicator: an attribute on it, and the communicators of this thread's
// last calls, so that a repeated call costs a comparison.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "mpi/communicator/communicator.h"
#include "mpi/base/native.h"

namespace mutirao::mpi {

/// One of this thread's last communicators. A handle may be used again for another communicator, so
/// every freed one ends all of these.
struct RecentCommunicator {
    MPI_Comm comm;
    Communicator* communicator;  ///< null: none yet
    std::uint64_t generation;
    bool native;  ///< the MPI library takes all calls on it, for good

    static inline std::atomic<std::uint64_t> current{0};  ///< generation

    /// Null if `comm` is none of them.
    static RecentCommunicator* find(MPI_Comm comm) {
        RecentCommunicator* const pair = pair_of(comm);
        return pair[0].is(comm) ? &pair[0] : pair[1].is(comm) ? &pair[1] : nullptr;
    }
    /// In the place of an older one.
    static RecentCommunicator& add(RecentCommunicator fresh) {
        RecentCommunicator* const pair = pair_of(fresh.comm);
        pair[1] = pair[0];
        return pair[0] = fresh;
    }

  private:
    bool is(MPI_Comm wanted) const {
        return comm == wanted && communicator != nullptr &&
               generation == current.load(std::memory_order_relaxed);
    }
    /// The two places for `comm`: those that a program uses in turn shall not drive each other out.
    static RecentCommunicator* pair_of(MPI_Comm comm) {
        const auto word = static_cast<std::uint64_t>(as_word(comm));
        return places + (word ^ (word >> 4) ^ (word >> 9)) % (place_count / 2) * 2;
    }
    static constexpr std::size_t place_count = 8;
    static constinit thread_local RecentCommunicator places[place_count]
        __attribute__((tls_model("initial-exec")));
};

/// Made at the communicator's first call; lives until the program frees it, or MPI ends.
Communicator& communicator_of(MPI_Comm comm, Job& job);

/// When the program frees it. MPI may call back for the attribute much later: MPICH when the last request
/// on the communicator ends, ours too.
void free_communicator(MPI_Comm comm);

/// Ends what the living communicators hold. For the beginning of MPI_Finalize.
void end_communicators();

}  // namespace mutirao::mpi
