// Tells every host what all hosts hold, over the links of a spanning tree only, so that no message
// crosses a bad link. Each direction of each link carries one message: all that the hosts on the
// sender's side hold. A host sends it as soon as it has heard from all its other neighbours.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/drivers/mailbox.h"

namespace mutirao::mpi {

/// `mine` is this host's part, `branches` its tree neighbours. Returns the parts of all hosts that
/// the tree spans, one after the other, in no particular order; all of the same length as `mine`.
std::vector<std::byte> gather_over_tree(Mailbox& mailbox, const std::vector<int>& branches,
                                        std::vector<std::byte> mine);

}  // namespace mutirao::mpi
