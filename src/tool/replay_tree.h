// The minimum spanning tree of a replayed network, kept minimal by the distributed protocol itself:
// all hosts' machines in memory, messages delivered in the order in which they were sent.
#pragma once

#include "core/network/network.h"
#include "core/network/tree.h"
#include "core/spanning_tree/maintenance.h"

namespace mutirao::tool {

class MaintainedTree {
  public:
    /// One round, if a link changed since the last one or other hosts can be reached from `inside`;
    /// from nothing in the latter case. Returns how many messages it took.
    int adapt(const Network& announced, int inside);

    /// Of the hosts that can be reached.
    const EdgeList& tree() const { return tree_; }
    /// Kruskal's answer to the same question.
    bool equals_kruskals() const;

  private:
    maintenance::Round next_round(const Network& announced, int inside) const;

    Network base_;  ///< as of the last round
    EdgeList tree_;
    HostSet hosts_;
    std::uint32_t rounds_ = 0;
};

}  // namespace mutirao::tool
