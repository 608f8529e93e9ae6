// Keeps a minimum spanning tree minimal while links get worse and better, as a pure state machine:
// the protocol of Cheng, Cimet and Kumar (1988, doi:10.1145/52324.52356) for several failures and
// recoveries at once, failures first, with the two termination procedures of Thome and Drummond
// (section 3). One Node lives for one round; what changes meanwhile waits for the next.
#pragma once

#include <cstdint>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/ghs.h"
#include "core/spanning_tree/host_set.h"

namespace mutirao::maintenance {

/// A link whose weight is not what it was when the tree was minimal. Infinite: carries nothing.
struct Change {
    int low = -1;
    int high = -1;
    double before = 0;
    double after = 0;

    bool operator==(const Change&) const = default;
};

/// What a round is about. Every host of a round is told the same.
struct Round {
    std::uint32_t number = 0;
    int root = -1;                ///< leads the termination, and learns first of the end
    EdgeList tree;                ///< a minimum spanning forest for the weights before the changes
    std::vector<Change> changes;  ///< since then; a tree link that got worse is a failure, a link
                                  ///< outside the tree that got better a recovery
    HostSet hosts;                ///< who takes part: all that usable links join to the root

    bool operator==(const Round&) const = default;
};

}  // namespace mutirao::maintenance
