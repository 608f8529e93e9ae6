// What algorithms that go by hosts have in common.
#pragma once

#include <algorithm>
#include <vector>

#include "core/algorithms/algorithm.h"
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

inline int fewest_ranks_of_a_host(const Placement& placement) {
    int fewest = placement.rank_count();
    for (int host = 0; host < placement.host_count(); ++host)
        fewest = std::min(fewest, static_cast<int>(placement.ranks_of(host).size()));
    return fewest;
}

/// Of the same host, ascending.
inline std::vector<int> others_beside(const Placement& placement, int rank) {
    const auto beside = placement.ranks_of(placement.host_of(rank));
    std::vector<int> others(beside.begin(), beside.end());
    std::erase(others, rank);
    return others;
}

/// Every run of consecutive ranks that share a host, as a host of its own.
Placement runs_on_hosts(const Placement& placement);

// An algorithm over hosts with several ranks, composed of what the catalogue has: the algorithm
// between the hosts' leaders, then Parameters::inside on each host's ranks from its leader. Two
// levels of ranks therefore need no file of their own for any algorithm, and data flow from one
// level into the next as their bytes allow (Schedule::append). An algorithm whose participants are all
// ranks (Level::ranks) runs as it is; if it takes a tree of hosts, that goes on inside each host as a binomial tree below
// its leader, which serves the other hosts first.

/// Builds the parts of all ranks of a candidate that is not native; what they have in common is made once. Where
/// participants are hosts a part takes time for the rank's own steps, whatever the number of ranks and hosts.
class Composer {
  public:
    /// `tree`: over the hosts, hung from the root's, or packed ones over the ranks, from the root; null if the algorithm
    /// takes none. All must outlive this.
    Composer(const Candidate& candidate, const CallShape& shape, const Placement& placement, const Tree* tree);
    Composer(const Composer&) = delete;
    Composer& operator=(const Composer&) = delete;

    /// `shape`: as that rank knows it.
    Schedule part_of(int rank, const CallShape& shape) const;

  private:
    Schedule inside_host(int rank, int leader, const CallShape& shape) const;

    const Candidate& candidate_;
    const Placement& placement_;
    Tree tree_of_ranks_;
    const Tree* tree_;
};

}  // namespace mutirao
