#include "core/algorithms/composition.h"

#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Segments go on inside the host as they arrive.
Parameters inside_parameters(const Candidate& candidate, const Algorithm& inside) {
    Parameters parameters{.segment_bytes = candidate.parameters.segment_bytes};
    if (!inside.radices.empty()) parameters.radix = inside.radices.front();
    return parameters;
}

Schedule between_hosts(const Candidate& candidate, const CallShape& shape,
                       const Placement& placement, const Tree* tree, int host) {
    return candidate.algorithm->build({.rank = host,
                                       .size = placement.host_count(),
                                       .root = placement.host_of(shape.root),
                                       .length_bytes = shape.length_bytes,
                                       .parameters = candidate.parameters,
                                       .tree = tree});
}

Schedule inside_host(const Candidate& candidate, const CallShape& shape,
                     const Placement& placement, int rank, int leader) {
    const Algorithm* inside = find_algorithm(shape.collective, candidate.parameters.inside);
    if (!inside) broken_invariant("an algorithm inside hosts that is not there (found, rank)", 0,
                                  rank);
    const auto beside = placement.ranks_of(placement.host_of(rank));
    return inside->build({.rank = placement.position_of(rank),
                          .size = static_cast<int>(beside.size()),
                          .root = placement.position_of(leader),
                          .length_bytes = shape.length_bytes,
                          .parameters = inside_parameters(candidate, *inside)});
}

}  // namespace

Schedule compose(const Candidate& candidate, const CallShape& shape, const Placement& placement,
                 const Tree* tree, int rank) {
    const int host = placement.host_of(rank);
    const int leader = placement.leader(host, shape.root);
    Schedule schedule;
    if (rank == leader) {
        schedule.append(between_hosts(candidate, shape, placement, tree, host),
                        [&](int other) { return placement.leader(other, shape.root); });
    }
    const auto beside = placement.ranks_of(host);
    if (beside.size() > 1) {
        schedule.append(inside_host(candidate, shape, placement, rank, leader), beside);
    }
    return schedule;
}

}  // namespace mutirao
