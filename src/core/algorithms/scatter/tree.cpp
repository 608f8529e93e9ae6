// Each block travels by itself, so that it goes on as soon as it has come; those of the farthest ranks leave
// first, which have the longest way.
//
// Cost, p ranks, blocks of n bytes: as many messages as the ranks' depths add up to; an edge passes the blocks of
// the ranks below it, each once. Scratch for the blocks of the ranks below. The tree must hang from the root, and
// blocks be equal: ranks on the way know no others' lengths.
#include <algorithm>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/trees.h"

namespace mutirao::scatter {

namespace {

/// Brothers stay in the order in which their parent serves them.
std::vector<TreeVisit> farthest_first(const Request& request, int parent) {
    std::vector<TreeVisit> visits = nearest_first(*request.tree, request.rank, parent);
    std::stable_sort(visits.begin(), visits.end(), [](const TreeVisit& a, const TreeVisit& b) {
        return a.distance > b.distance;
    });
    return visits;
}

}  // namespace

static Schedule tree(const Request& request) {
    Schedule schedule;
    if (request.length_bytes == 0) return schedule;
    const int parent = place_below_root(request).parent;
    const bool at_root = parent < 0;
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    int staged = 0;
    for (const TreeVisit& visit : farthest_first(request, parent)) {
        if (visit.rank == request.rank) continue;
        if (at_root) {
            schedule.send(visit.branch,
                          nth_block(Buffer::input, visit.rank, request.length_bytes));
            continue;
        }
        const Region block = nth_block(Buffer::scratch, staged++, request.length_bytes);
        const StepId arrival[] = {schedule.receive(parent, block)};
        schedule.send(visit.branch, block, arrival);
    }
    if (at_root) {
        schedule.copy(nth_block(Buffer::input, request.root, request.length_bytes), mine);
    } else {
        schedule.receive(parent, mine);
    }
    return schedule;
}

Algorithm tree() {
    return {.collective = Collective::scatter,
            .name = "tree",
            .summary = "down a tree made from the measured network, block by block",
            .source = tree_sources,
            .build = tree, .trees = measured_trees()};
}

}  // namespace mutirao::scatter
