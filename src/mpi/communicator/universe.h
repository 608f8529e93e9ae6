// The hosts that this process has measured together with others, so that communicators made later
// among the same processes need not measure again.
#pragma once

#include <cstdint>
#include <memory>

#include "core/selection/selection.h"
#include "mpi/adaptation/network_source.h"

namespace mutirao::mpi {

struct Universe {
    std::uint64_t id = 0;  ///< equal on all processes that took part in the measurement
    int my_host = 0;       ///< this process' host in `topology`
    Topology topology;
    std::shared_ptr<NetworkSource> source;  ///< null, on all processes: what was measured stays
};

/// The part of a measured topology that concerns `hosts` (numbers in it), renumbered from 0. Its
/// spanning tree is computed from the same weights, since a part of a tree need not be one. All
/// hosts in their order: the topology itself.
Topology restrict(const Topology& topology, const std::vector<int>& hosts);

}  // namespace mutirao::mpi
