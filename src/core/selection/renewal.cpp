#include "core/selection/renewal.h"

#include <limits>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/schedule/predictor.h"
#include "core/text/invariant.h"

namespace mutirao {

std::optional<double> predict_tree(const Tree& tree, const Network& network,
                                   std::size_t length_bytes) {
    const Algorithm* over_tree = find_algorithm(Collective::broadcast, "tree");
    if (!over_tree) broken_invariant("rows named tree in the catalogue", 0, 1);
    if (tree.size() != network.host_count()) {
        broken_invariant("hosts of a tree", tree.size(), network.host_count());
    }
    std::vector<Schedule> schedules;
    for (int rank = 0; rank < tree.size(); ++rank) {
        schedules.push_back(over_tree->build({.rank = rank,
                                              .size = tree.size(),
                                              .root = tree.root,
                                              .length_bytes = length_bytes,
                                              .tree = &tree}));
    }
    const Prediction prediction = predict(schedules, network);
    return prediction.stuck ? std::nullopt : std::optional(prediction.completion_us);
}

std::optional<Tree> fastest_tree(const Topology& topology, int root, std::size_t length_bytes) {
    std::optional<Tree> fastest;
    double fastest_us = std::numeric_limits<double>::infinity();
    for (const TreeKind kind : {TreeKind::shortest_path, TreeKind::greedy,
                                TreeKind::minimum_spanning, TreeKind::two_level}) {
        const auto tree = make_tree(topology, kind, root, length_bytes);
        const auto time_us =
            tree ? predict_tree(*tree, topology.network, length_bytes) : std::nullopt;
        if (!time_us || *time_us >= fastest_us) continue;
        fastest = tree;
        fastest_us = *time_us;
    }
    return fastest;
}

std::optional<Renewal> renew(const Tree& present, const Topology& now, std::size_t length_bytes,
                             double tolerance_percent) {
    const auto best = fastest_tree(now, present.root, length_bytes);
    if (!best) return std::nullopt;
    const double best_us = *predict_tree(*best, now.network, length_bytes);
    const auto present_us = predict_tree(present, now.network, length_bytes);
    const bool kept = present_us && *present_us <= best_us * (1 + tolerance_percent / 100);
    return kept ? Renewal{present, true, *present_us, best_us} : Renewal{*best, false, best_us, best_us};
}

}  // namespace mutirao
