// What must hold whenever hosts keep a spanning tree through rounds of changes, whatever the order
// of events; Kruskal's algorithm says which tree must come of each round.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "simulate/maintenance_world.h"

namespace mutirao::simulate {

class MaintenanceRules {
  public:
    /// Messages of each kind, by the number of maintenance::Kind; then those of merging that only
    /// tell the end (ghs::Kind::finish), which `merge` leaves out.
    static constexpr std::size_t kinds = 7;
    static constexpr std::size_t finishes = kinds;
    using Counts = std::array<std::int32_t, kinds + 1>;

    Counts count(int from, const RoundOutgoing& outgoing) const;
    std::string objection(const MaintenanceWorld& world,
                          const MaintenanceWorld::Choice& choice) const;
    std::string objection_at_rest(const MaintenanceWorld& world) const;

    /// Of the counts' greatest values over executions of up to so many rounds.
    static std::string objection(const Counts& worst, const Graph& graph, int rounds);
    /// Merging in one round: two messages per link for tests; a level doubles the fragments' size,
    /// and costs a host five messages; two more for finding the fragments' cores.
    static double most_merges(const Graph& graph);

  private:
    static std::string host_objection(const MaintenanceWorld& world, int host);
};

}  // namespace mutirao::simulate
