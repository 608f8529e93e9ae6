// A tree over ranks in which all ranks of a host serve other hosts.
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"

namespace mutirao {

/// Hosts counted from the root's have the message round by round; in a round each rank of a host that has it
/// serves Parameters::radix other hosts, so that with m ranks a host it reaches radix times m. One rank
/// of a host is reached from outside, and passes it on inside by a binomial tree before it serves others. The
/// smallest host says how many ranks of each take part. Rounds as in allgather/locality_bruck
/// (Bienz, Gautam and Kharel 2022, arXiv:2206.03564). Under real ranks; takes time for the rank's own place.
TreePlace locality_place(const Request& request);

}  // namespace mutirao
