// All ranks' schedules of one candidate, with made-up trees where it needs one. Only tests include
// this.
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/network/test_networks.h"

namespace mutirao::test {

/// Every row that builds schedules, with each radix and each kind of tree.
inline std::vector<Candidate> candidates_in_one_piece() {
    std::vector<Candidate> candidates;
    for (const Algorithm& row : catalogue()) {
        if (row.native()) continue;
        std::vector<int> radices = row.radices;
        if (radices.empty()) radices.push_back(Parameters{}.radix);
        std::vector<TreeKind> trees = row.trees;
        if (trees.empty()) trees.push_back(TreeKind::none);
        for (const int radix : radices) {
            for (const TreeKind tree : trees) {
                candidates.push_back({&row, {.segment_bytes = 0, .radix = radix, .tree = tree}});
            }
        }
    }
    return candidates;
}

/// A tree of that kind over a random network; for a spanning tree, over random edges.
inline Tree random_tree(TreeKind kind, int size, int root) {
    const auto seed = static_cast<unsigned>(size);
    std::mt19937 random(seed);
    switch (kind) {
        case TreeKind::minimum_spanning:
            return hang_from(random_spanning_edges(random, size), root,
                             random_network(seed, size))
                .value();
        case TreeKind::shortest_path:
            return shortest_path_tree(random_network(seed, size), root, 1000).value();
        case TreeKind::greedy: return greedy_tree(random_network(seed, size), root, 1000).value();
        case TreeKind::two_level: {
            std::vector<int> site_of;
            const auto sites = 1 + random() % static_cast<unsigned>(size);
            for (int host = 0; host < size; ++host) {
                site_of.push_back(static_cast<int>(random() % sites));
            }
            return two_level_tree(site_of, root);
        }
        case TreeKind::none: break;
    }
    return {};
}

inline std::vector<Schedule> build_all(const Candidate& candidate, int size, int root,
                                       std::size_t length_bytes, const Tree& tree) {
    std::vector<Schedule> schedules;
    for (int rank = 0; rank < size; ++rank) {
        schedules.push_back(candidate.algorithm->build({.rank = rank,
                                                        .size = size,
                                                        .root = root,
                                                        .length_bytes = length_bytes,
                                                        .parameters = candidate.parameters,
                                                        .tree = &tree}));
    }
    return schedules;
}

}  // namespace mutirao::test
