// What algorithms that go by hosts have in common.
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/network/placement.h"
#include "core/text/invariant.h"

namespace mutirao {

/// Request::placement, which must be there and of the same ranks.
inline const Placement& given_placement(const Request& request) {
    if (request.placement == nullptr) {
        broken_invariant("algorithm by hosts without a placement (ranks, root)", request.size,
                         request.root);
    }
    if (request.placement->rank_count() != request.size) {
        broken_invariant("placement does not fit (its ranks, ranks)",
                         request.placement->rank_count(), request.size);
    }
    return *request.placement;
}

}  // namespace mutirao
