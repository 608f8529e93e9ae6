#include "core/algorithms/over_placement.h"

#include <vector>

#include "core/algorithms/shape.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Segments go on inside the host as they arrive.
Parameters inside_parameters(const Candidate& candidate, const Algorithm& inside) {
    Parameters parameters{.segment_bytes = candidate.parameters.segment_bytes};
    if (!inside.radices.empty()) parameters.radix = inside.radices.front();
    return parameters;
}

/// `hosts`, with every host's other ranks hung below its leader, the root's host's below the root.
Tree tree_over_ranks(const Tree& hosts, const Placement& placement, int root) {
    const auto ranks = static_cast<std::size_t>(placement.rank_count());
    Tree tree = bare_tree(ranks, root);
    for (int host = 0; host < placement.host_count(); ++host) {
        const int leader = placement.leader(host, root);
        for (const int child : hosts.children[static_cast<std::size_t>(host)]) {
            tree.hang(placement.leader(child, root), leader);
        }
        const int size = static_cast<int>(placement.ranks_of(host).size());
        for (int distance = 1; distance < size; ++distance) {
            const int parent = k_nomial_place(distance, size, 2).parent;
            tree.hang(placement.beside(leader, distance), placement.beside(leader, parent));
        }
    }
    for (const Tree& share : hosts.shares) tree.shares.push_back(tree_over_ranks(share, placement, root));
    if (!hosts.site_of.empty()) {
        for (std::size_t rank = 0; rank < ranks; ++rank)
            tree.site_of.push_back(hosts.site_of[static_cast<std::size_t>(placement.host_of(static_cast<int>(rank)))]);
    }
    tree.owned = hosts.owned;
    return tree;
}

}  // namespace

Placement runs_on_hosts(const Placement& placement) {
    std::vector<int> run_of_rank;
    int run = 0;
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
        if (rank > 0 && placement.host_of(rank) != placement.host_of(rank - 1)) ++run;
        run_of_rank.push_back(run);
    }
    return Placement(std::move(run_of_rank));
}

Composer::Composer(const Candidate& candidate, const CallShape& shape, const Placement& placement, const Tree* tree)
    : candidate_(candidate), placement_(placement), tree_(tree) {
    const bool goes_over_ranks = candidate.algorithm->level == Level::ranks;
    if (tree == nullptr || !goes_over_ranks || placement.ranks_are_hosts()) return;
    const bool is_of_ranks = placement.most_ranks_on_a_host() > 1 && tree->size() == placement.rank_count();
    if (is_of_ranks) return;
    const int root = row_of(shape.collective).rooted ? shape.root : placement.ranks_of(tree->root).front();
    tree_of_ranks_ = tree_over_ranks(*tree, placement, root);
    tree_ = &tree_of_ranks_;
}

Schedule Composer::part_of(int rank, const CallShape& shape) const {
    const Algorithm& algorithm = *candidate_.algorithm;
    Request request{.rank = rank,
                    .size = placement_.rank_count(),
                    .root = shape.root,
                    .length_bytes = shape.length_bytes,
                    .lengths = shape.lengths,
                    .unit_bytes = shape.unit_bytes,
                    .commutes = shape.op.commutes,
                    .parameters = candidate_.parameters,
                    .tree = tree_,
                    .placement = &placement_};
    if (algorithm.level == Level::ranks) return algorithm.build(request);

    const int host = placement_.host_of(rank);
    const int leader = placement_.leader(host, shape.root);
    Schedule schedule;
    if (rank == leader) {
        request.rank = host;
        request.size = placement_.host_count();
        request.root = placement_.host_of(shape.root);
        request.placement = nullptr;
        schedule.append(algorithm.build(request), [&](int other) { return placement_.leader(other, shape.root); });
    }
    const auto beside = placement_.ranks_of(host);
    if (beside.size() > 1) schedule.append(inside_host(rank, leader, shape), beside);
    return schedule;
}

Schedule Composer::inside_host(int rank, int leader, const CallShape& shape) const {
    const Algorithm* inside = find_algorithm(shape.collective, candidate_.parameters.inside);
    if (!inside) broken_invariant("an algorithm inside hosts that is not there (found, rank)", 0, rank);
    const auto beside = placement_.ranks_of(placement_.host_of(rank));
    return inside->build({.rank = placement_.position_of(rank),
                          .size = static_cast<int>(beside.size()),
                          .root = placement_.position_of(leader),
                          .length_bytes = shape.length_bytes,
                          .parameters = inside_parameters(candidate_, *inside)});
}

}  // namespace mutirao
