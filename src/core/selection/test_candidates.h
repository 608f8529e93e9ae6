// What decisions are made from, and everything that could be tried for a message, where a decision tries
// only a part. Only tests include this.
#pragma once

#include "core/network/sites.h"
#include "core/network/topology.h"
#include "core/network/tree.h"
#include "core/selection/selection.h"

namespace mutirao::test {

inline Topology topology_of(const Network& network) {
    const std::vector<int> site_of = discover_sites(network);
    return {network, minimum_spanning_tree(network), site_of, discover_regions(network, site_of)};
}

/// As many ranks on each host.
inline std::shared_ptr<const RankNetwork> ranks_on(const Network& network, int ranks_per_host = 1) {
    return std::make_shared<const RankNetwork>(topology_of(network),
                                               Placement::in_blocks(network.host_count(), ranks_per_host));
}

/// Each algorithm with each of its parameters worth trying; native first.
inline std::vector<Candidate> all_candidates(Collective collective, std::size_t length_bytes) {
    std::vector<Candidate> result;
    for (Candidate candidate : candidates_in_one_piece(collective)) {
        for (const std::size_t segment_bytes :
             segment_choices(*candidate.algorithm, length_bytes)) {
            candidate.parameters.segment_bytes = segment_bytes;
            result.push_back(candidate);
        }
    }
    return result;
}

}  // namespace mutirao::test
