// What algorithms that go by hosts have in common.
#pragma once

#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/shape.h"
#include "core/collectives/collective.h"
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

/// Lanes: every group of ranks (the ranks of a host, say) has one rank for each lane, which deals
/// with that share of the message for its group, so that groups exchange over several ranks at once
/// (Traeff and Hunold 2019, arXiv:1910.13373). In groups of fewer ranks than there are lanes these
/// serve several lanes in turn.
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

/// Every run of consecutive ranks that share a host, as a host of its own.
Placement runs_on_hosts(const Placement& placement);

// An algorithm over hosts with several ranks, composed of what the catalogue has: the algorithm
// between the hosts' leaders, then Parameters::inside on each host's ranks from its leader. Two
// levels of ranks therefore need no file of their own for any algorithm, and data flow from one
// level into the next as their bytes allow (Schedule::append). An algorithm whose participants are all
// ranks (Level::ranks) runs as it is; if it takes a tree, that goes on inside the hosts.

/// `hosts`, with every host's other ranks hung below its leader, the root's host's below the root: as a
/// binomial tree, and served after the other hosts.
Tree tree_over_ranks(const Tree& hosts, const Placement& placement, int root);

/// Builds the parts of all ranks of a candidate that is not native; what they have in common is made once. Where
/// participants are hosts a part takes time for the rank's own steps, whatever the number of ranks and hosts.
class Composer {
  public:
    /// `tree`: over the hosts, hung from the root's; null if the algorithm takes none. All must outlive this.
    Composer(const Candidate& candidate, const CallShape& shape, const Placement& placement, const Tree* tree);
    Composer(const Composer&) = delete;
    Composer& operator=(const Composer&) = delete;

    /// `shape`: as that rank knows it.
    Schedule part_of(int rank, const CallShape& shape) const;

  private:
    Schedule over_ranks(int rank, const CallShape& shape) const;
    Schedule over_hosts(int rank, const CallShape& shape) const;
    Schedule between_hosts(int host, const CallShape& shape) const;
    Schedule inside_host(int rank, int leader, const CallShape& shape) const;

    const Candidate& candidate_;
    const Placement& placement_;
    Tree tree_of_ranks_;
    const Tree* tree_;
};

}  // namespace mutirao
