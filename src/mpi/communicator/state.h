// What mutirao holds of one communicator, kept as an attribute on it and freed with it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "mpi/adaptation/synchronous.h"
#include "mpi/adaptation/network_follower.h"
#include "mpi/communicator/hosts.h"
#include "mpi/communicator/record.h"
#include "mpi/executor/plan.h"

namespace mutirao::mpi {

struct State {
    ~State();
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    /// Frees the private communicators; the MPI library takes every call from then on.
    void release();

    /// The network has changed: every decision is to be made anew, in view of the present one.
    void question_decisions();
    void forget_all();

    /// Every call of this communicator goes to the MPI library's own; what follows is empty then.
    bool native = true;
    MPI_Comm comm = MPI_COMM_NULL;  ///< private, of the same group
    bool keep_comm = false;         ///< never free it; see Measured::letters_left
    Hosts hosts;
    std::uint64_t calls = 0;  ///< equal on all ranks: the tags carry it
    std::shared_ptr<Record> record;
    std::shared_ptr<NetworkSource> source;      ///< null: nobody measures beside the program
    Background* background = nullptr;           ///< the source's
    std::unique_ptr<NetworkFollower> follower;  ///< null: there is no source
    std::unique_ptr<SynchronousAdaptation> synchronous;  ///< null: not adapted inside calls

    std::vector<int> speakers;  ///< rank that speaks for each host in the current call
    /// Index into record->decisions by root host and length class.
    std::unordered_map<std::uint64_t, std::size_t> decision_of;
    /// The same, of those to be made anew.
    std::unordered_map<std::uint64_t, std::size_t> decision_before;
    /// This rank's plans by decision and exact length; bounded.
    std::unordered_map<std::uint64_t, std::unique_ptr<Plan>> plans;
    Departures departures;
};

int make_communicator_key();

/// The state of a communicator, made at its first call by all its ranks together.
State& state_of(MPI_Comm comm);

/// Frees what the living communicators hold, in the order of their making on every rank. For the
/// beginning of MPI_Finalize.
void free_states();

}  // namespace mutirao::mpi
