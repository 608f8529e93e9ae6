// The hosts that this process has measured together with others, so that communicators made later
// among the same processes need not measure again.
#pragma once

#include <cstdint>

#include "core/selection/selection.h"

namespace mutirao::mpi {

struct Universe {
    std::uint64_t id = 0;  ///< equal on all processes that took part in the measurement
    int my_host = 0;       ///< this process' host in `topology`
    Topology topology;
};

/// The part of a measured topology that concerns `hosts` (numbers in it), renumbered from 0. Its
/// spanning tree is computed from the same weights, since a part of a tree need not be one.
Topology restrict(const Topology& topology, const std::vector<int>& hosts);

}  // namespace mutirao::mpi
