// Each block goes on by itself as soon as it has come, so that over long links nobody waits for a subtree to be
// complete; those of the nearest ranks go first, which are there first.
//
// Cost, p ranks, blocks of n bytes: as many messages as the ranks' depths add up to; an edge passes the blocks of
// the ranks below it, each once. Scratch for the blocks of the ranks below. The tree must hang from the root, and
// blocks be equal: ranks on the way know no others' lengths.
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/trees.h"

namespace mutirao::gather {

static Schedule tree(const Request& request) {
    Schedule schedule;
    if (request.length_bytes == 0) return schedule;
    const int parent = place_below_root(request).parent;
    const bool at_root = parent < 0;
    if (at_root) {
        copy_own_block(schedule, request);
    } else {
        schedule.send(parent, own_input(request));
    }
    int staged = 0;
    for (const TreeVisit& visit : nearest_first(*request.tree, request.rank, parent)) {
        if (visit.rank == request.rank) continue;
        if (at_root) {
            schedule.receive(visit.branch,
                             nth_block(Buffer::output, visit.rank, request.length_bytes));
            continue;
        }
        const Region block = nth_block(Buffer::scratch, staged++, request.length_bytes);
        const StepId arrival[] = {schedule.receive(visit.branch, block)};
        schedule.send(parent, block, arrival);
    }
    return schedule;
}

Algorithm tree() {
    return {.collective = Collective::gather,
            .name = "tree",
            .summary = "up a tree made from the measured network, block by block",
            .source = tree_sources,
            .build = tree, .trees = measured_trees()};
}

}  // namespace mutirao::gather
