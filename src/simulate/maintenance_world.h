// A round in which hosts bring their spanning tree up to date after links have changed: the world in which
// core/spanning_tree/maintenance.h is explored. The network delivers; from outside comes that a host enters the round.
// Weights never part the hosts: which hosts take part is decided above this machine, as is what follows a round
// (rounds_world.h).
#pragma once

#include <string>

#include "core/spanning_tree/maintenance.h"
#include "simulate/channels.h"
#include "simulate/graphs.h"

namespace mutirao::simulate {

/// One host's part, which wakes as it enters the round.
struct RoundNode : maintenance::Node {
    using Node::Node;

    bool asleep() const { return !started(); }
    maintenance::Output wake() { return start(); }
};
struct MaintenanceWorld : Channels<RoundNode> {
    using Channels::Channels;

    /// "3 -> 5 connect(level 0, ...)".
    std::string describe(const Choice& choice) const;
    std::string describe(int host) const;
};

}  // namespace mutirao::simulate
