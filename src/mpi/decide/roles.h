// What the ranks of a communicator are there for: who decides, who tells what calls took.
#pragma once

#include <string>

#include "mpi/base/world.h"

namespace mutirao::mpi {

/// Why the MPI library takes all calls among ranks whose hosts are known; empty: it need not.
std::string nothing_to_choose(const Members& members, const World& world);

/// Where only the leaders of hosts see the network, one of them.
int choose_decider(const Members& members, const World& world);

/// Where ranks are many some speak for all, the decider among them, and the calls' root: often it alone knows what a
/// row of calls takes.
bool reports_times(int rank, int root, int decider, int ranks);
int reporters_among(int ranks, int root, int decider);

}  // namespace mutirao::mpi
