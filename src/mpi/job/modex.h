// The modex: what the processes of a job tell each other by whoever launched them, beside MPI. Those of Open MPI learn
// each other's addresses so, by PMIx (modex.cpp), each when it first needs it, and wait inside the call for the launcher's
// host and back: between sites a first broadcast takes seconds for that (docs/results.md). What Hydra passes on is all in
// MPI_Init, so under `mutirao run` its ranks meet at a rendezvous of ours (rendezvous.cpp). All of this does nothing where
// neither is the way.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "agent/key.h"
#include "mpi/base/world.h"

namespace mutirao::mpi {

/// What this rank says of itself, made when it is asked for.
using Introduce = std::function<const Introduction&()>;
/// To be called in MPI_Init: readies it for whoever asks; until then nothing leaves this host. Not where all ranks are on one
/// host, or too many for each to ask for all.
void publish(Introduce introduce);
/// That all ranks have from the launcher, so that none need be told; nothing: they have none.
std::optional<agent::Key> key_of_launcher();

/// Called, by a thread that is not the program's, once all ranks have been heard; by rank.
using Told = std::function<void(const std::vector<Introduction>&)>;

/// Asks once for what the ranks of MPI_COMM_WORLD that calls may need first have published, and waits for nothing: the MPI
/// library then finds their addresses in the process. All of them up to a size, beyond that those that trees and
/// dissemination lead to. Who has published asks for introductions, too.
void fetch_modex_ahead(Told when_all_told);

/// All introductions have been asked for, not long ago.
bool may_be_told();

}  // namespace mutirao::mpi
