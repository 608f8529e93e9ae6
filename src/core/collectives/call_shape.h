// What a call asks for, as far as MPI makes it equal on all ranks of a correct program; everything
// that is decided, predicted, kept or reported depends on shapes only. What one rank alone knows
// (addresses, counts, datatypes, MPI_IN_PLACE) must never enter one: ranks that see different
// shapes choose different algorithms, and the program hangs.
#pragma once

#include <cstddef>

#include "core/collectives/collective.h"

namespace mutirao {

/// What may be done with a reduction's operator.
struct OperatorKind {
    bool predefined = true;
    bool commutes = true;
    bool floating_point = false;  ///< rounds, so another association may change the result

    bool operator==(const OperatorKind&) const = default;
};

struct CallShape {
    Collective collective = Collective::broadcast;
    int root = 0;                  ///< a rank of the communicator; 0 where there is none
    /// Of the message in its packed signature; of one block where the collective is in_blocks.
    std::size_t length_bytes = 0;
    std::size_t unit_bytes = 1;    ///< never to be cut; a reduction's element
    OperatorKind op{};             ///< of a reduction

    bool operator==(const CallShape&) const = default;

    /// Nothing is to be done but to return.
    bool empty() const { return length_bytes == 0 && collective != Collective::barrier; }
};

}  // namespace mutirao
