// A round in which hosts bring their spanning tree up to date after links have changed: the world in which
// core/spanning_tree/maintenance.h is explored. The network delivers; from outside comes that a host enters the round.
// Weights never part the hosts: which hosts take part is decided above this machine, as is what follows a round
// (rounds_world.h).
#pragma once

#include <array>
#include <cstdint>
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

struct Scenario {
    Graph before;  ///< for which all hosts hold the tree; no links: there is no tree
    Graph now;     ///< the same links (all links if there is no tree)
    int root = 0;
};

MaintenanceWorld maintenance_world(const Scenario& scenario);

/// What must hold whenever hosts go through a round, whatever the order of events; Kruskal's algorithm says which tree
/// must come of it. That no message but those of the search for the tree comes after the end each host checks by
/// itself.
class MaintenanceRules {
  public:
    /// Messages of each kind, by the number of maintenance::Kind; then those of merging that only
    /// tell the end (ghs::Kind::finish), which `merge` leaves out.
    static constexpr std::size_t kinds = 7;
    static constexpr std::size_t finishes = kinds;
    using Counts = std::array<std::int32_t, kinds + 1>;

    explicit MaintenanceRules(const Scenario& scenario);

    Counts count(int from, const maintenance::Outgoing& outgoing) const;
    std::string objection(const MaintenanceWorld&, const MaintenanceWorld::Choice&) const { return {}; }
    std::string objection_at_rest(const MaintenanceWorld& world) const;

    /// Of the counts' greatest values over executions.
    std::string objection(const Counts& worst) const;
    /// Two messages per link for tests; a level doubles the fragments' size, and costs a host five messages; where
    /// there was a tree two more for finding the cores of what is left of it.
    double most_merges() const;

  private:
    std::string host_objection(const RoundNode& node) const;

    double hosts_, links_;
    bool has_tree_;
    EdgeList expected_;
};

}  // namespace mutirao::simulate
