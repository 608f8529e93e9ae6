// Parts of `mutirao-studies replay`: a recorded network, slice by slice, against change detection, the spanning tree's
// maintenance, and trees that adapt or do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "core/network/network.h"
#include "core/network/tree.h"
#include "core/selection/estimate.h"
#include "core/spanning_tree/maintenance.h"
#include "tool/arguments.h"

namespace mutirao::tool {

/// The minimum spanning tree of a replayed network, kept minimal by the distributed protocol itself:
/// all hosts' machines in memory, messages delivered in the order in which they were sent.
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
    maintenance::Round next_round(const Network& announced, const HostSet& hosts) const;

    Network base_;  ///< as of the last round
    EdgeList tree_;
    HostSet hosts_;
    std::uint32_t rounds_ = 0;
};

/// One tree over the slices: how often it was another one than in the slice before.
struct Track {
    std::optional<Tree> tree;
    int switches = 0;
    int exchanged_links = 0;

    /// The tree of this slice; nothing: there is none. Returns how many links were exchanged.
    int use(std::optional<Tree> next);
};

struct Broadcasts {
    int root = 0;
    std::size_t length_bytes = 0;
    double tolerance_percent = usual_tolerance_percent;
};

/// How seldom trees would have to be exchanged by one who knows the future: so many trees, one after the other, are
/// enough for broadcasts within `near_percent` of the bound in every slice (slices in which a host cannot be reached
/// apart). What a replay's number of switches is measured against, since some networks change too fast for any tree to
/// last. Found greedily, each tree for as long as it lasts, so perhaps not the fewest. Counts latencies only.
int trees_with_foresight(const std::vector<Network>& slices, const Broadcasts& broadcasts,
                         double near_percent);

/// The command: takes the words after its name.
void replay_trace(const Words& words, std::ostream& out);

}  // namespace mutirao::tool
