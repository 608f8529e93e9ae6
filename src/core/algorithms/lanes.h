// Lanes: every group of ranks (the ranks of a host, say) has one rank for each lane, which deals
// with that share of the message for its group, so that groups exchange over several ranks at once
// (Traeff and Hunold 2019, arXiv:1910.13373). In groups of fewer ranks than there are lanes these
// serve several lanes in turn.
#pragma once

#include "core/algorithms/shape.h"
#include "core/network/placement.h"

namespace mutirao {

class Lanes {
  public:
    /// One for each rank of the largest group. The root serves the first lane of its own group; -1:
    /// there is none.
    explicit Lanes(const Placement& groups, int root = -1) : groups_(groups), root_(root) {}

    int count() const { return groups_.most_ranks_on_a_host(); }
    int speaker(int group, int lane) const {
        const auto ranks = groups_.ranks_of(group);
        const bool has_root = root_ >= 0 && groups_.host_of(root_) == group;
        const int first = has_root ? groups_.position_of(root_) : 0;
        return ranks[static_cast<std::size_t>(
            real_rank(lane % static_cast<int>(ranks.size()), first,
                      static_cast<int>(ranks.size())))];
    }

  private:
    const Placement& groups_;
    int root_;
};

}  // namespace mutirao
