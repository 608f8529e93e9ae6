// A rank signals to a neighbour once it has heard from all its others, so what comes over an edge speaks for all
// ranks behind it. A tree barrier (Mellor-Crummey and Scott 1991, doi:10.1145/103727.103729) gathers at the root
// and returns from there; here the two directions of an edge may pass each other, and nobody waits for an echo of
// its own signal.
//
// Cost, p ranks: 2 (p - 1) messages; a rank is done after the longest path that ends at it, so all are after the
// tree's diameter, wherever it hangs from.
#include <utility>
#include <vector>

#include "core/algorithms/shape.h"
#include "core/algorithms/trees.h"

namespace mutirao::barrier {

static Schedule tree(const Request& request) {
    Schedule schedule;
    const std::vector<int> neighbours = neighbours_in(given_tree(request), request.rank);
    std::vector<StepId> heard;
    heard.reserve(neighbours.size());
    for (const int neighbour : neighbours) heard.push_back(schedule.receive(neighbour, signal));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        // The step to be left out of the dependencies comes last for a moment.
        std::swap(heard[i], heard.back());
        schedule.send(neighbours[i], signal, Schedule::After(heard).first(heard.size() - 1));
        std::swap(heard[i], heard.back());
    }
    return schedule;
}

Algorithm tree() {
    return {.collective = Collective::barrier,
            .name = "tree",
            .summary = "both ways over each edge of a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .trees = measured_trees()};
}

}  // namespace mutirao::barrier
