// What must hold in a world of rounds, whatever happens to links and hosts; Kruskal's algorithm
// says which tree it must be.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "simulate/rounds_world.h"

namespace mutirao::simulate {

class RoundsRules {
  public:
    /// Messages by kind.
    using Counts = std::array<std::int64_t, 7>;

    Counts count(int from, const rounds::Outgoing& outgoing) const;
    std::string objection(const RoundsWorld& world, const RoundsWorld::Choice& choice) const;
    /// Nothing is under way: hosts that reach each other know the same, have the same version with
    /// the tree of what they know, and are in no round. Once nothing is left to be measured, what
    /// they know is true.
    std::string objection_at_rest(const RoundsWorld& world) const;
};

}  // namespace mutirao::simulate
