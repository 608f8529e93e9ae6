#include "core/selection/ruling.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/algorithms/over_placement.h"
#include "core/selection/ownership.h"

namespace mutirao {

ShapeClass class_of(const CallShape& shape) {
    const bool known = row_of(shape.collective).in_blocks != InBlocks::own;
    return {shape.collective, shape.root,
            known ? static_cast<int>(std::bit_width(shape.length_bytes)) : any_length,
            shape.op.commutes};
}

// Early, so that what loses ends soon and what wins need not end; later less and less often.
bool Clocking::tells_after(std::uint32_t sample_count) const {
    if (sample_count == samples() || sample_count == lead + probe) return true;
    const std::uint32_t since = probe > 0 ? sample_count - std::min(sample_count, lead) : sample_count;
    return sample_count < lead + probe + (probe > 0 ? 0 : trail) && since >= 2 && std::has_single_bit(since);
}

/// The rank that a tree for such calls hangs from: the root; without a root the first on the host from which all
/// others are reached soonest, of a limited number that are looked at.
static int tree_root(const CallShape& shape, const Topology& topology, const Placement& placement) {
    if (row_of(shape.collective).rooted) return shape.root;
    constexpr int most_looked_at = 64;
    const int hosts = topology.network.host_count();
    int best = 0;
    double best_us = std::numeric_limits<double>::infinity();
    for (int host = 0; host < hosts; host += (hosts - 1) / most_looked_at + 1) {
        const auto reach_us = latency_bound_us(topology.network, host);
        if (reach_us && *reach_us < best_us) {
            best = host;
            best_us = *reach_us;
        }
    }
    return placement.ranks_of(best).front();
}

TreesOfCall::TreesOfCall(const CallShape& shape, const Topology& topology, const Placement& placement)
    : topology_(topology), placement_(placement), root_(tree_root(shape, topology, placement)),
      length_bytes_(shape.length_bytes) {}

const std::optional<Tree>& TreesOfCall::of(TreeKind kind) {
    const auto [place, is_new] = made_.try_emplace(kind);
    if (!is_new) return place->second;
    if (is_packed(kind)) place->second = packed(kind);
    if (!place->second) place->second = make_tree(topology_, kind, placement_.host_of(root_), length_bytes_);
    if (place->second && is_uneven(kind))
        place->second->owned = owned_by_distance(topology_.network, placement_, place->second->site_of, length_bytes_);
    return place->second;
}

/// Over ranks, if hosts have several and these have shares.
std::optional<Tree> TreesOfCall::packed(TreeKind kind) const {
    const bool fits = placement_.most_ranks_on_a_host() > 1 && placement_.rank_count() <= most_packed_hosts;
    if (!fits || !topology_.complete()) return std::nullopt;
    auto tree = packed_trees(network_of_ranks(topology_.network, placement_), root_, length_bytes_,
                             kind == TreeKind::packed_both_ways);
    return tree && !tree->shares.empty() ? std::move(tree) : std::nullopt;
}

std::optional<Arm> arm_for(const Candidate& candidate, const CallShape& shape, const Placement& placement,
                           TreesOfCall& trees) {
    const int participants = candidate.algorithm->level == Level::hosts ? placement.host_count() : placement.rank_count();
    if (!allows(*candidate.algorithm, shape.op.commutes, participants)) return std::nullopt;
    if (!candidate.algorithm->needs_tree()) return Arm{candidate};
    const std::optional<Tree>& tree = trees.of(candidate.parameters.tree);
    return tree ? std::optional(Arm{candidate, tree}) : std::nullopt;
}

std::optional<Arm> arm_for(const Candidate& candidate, const CallShape& shape, const RankNetwork& network) {
    TreesOfCall trees(shape, network.topology(), network.placement());
    return arm_for(candidate, shape, network.placement(), trees);
}

std::optional<std::vector<Schedule>> build_all(const Arm& arm, const CallShape& shape, const Placement& placement) {
    if (!arm.candidate.algorithm->has_schedule()) return std::nullopt;
    std::vector<Schedule> schedules;
    schedules.reserve(static_cast<std::size_t>(placement.rank_count()));
    const Composer composer(arm.candidate, shape, placement, arm.tree_or_null());
    for (int rank = 0; rank < placement.rank_count(); ++rank) schedules.push_back(composer.part_of(rank, shape));
    return schedules;
}

}  // namespace mutirao
