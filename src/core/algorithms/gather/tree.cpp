// Up a tree made from the measured network. Each block goes on by itself as soon as it has come, so
// that over long links nobody waits for a subtree to be complete; those of the nearest ranks go
// first, which are there first. The trees are those of broadcast/tree.cpp, with their sources.
//
// Cost, p ranks, blocks of n bytes: as many messages as the ranks' depths add up to; an edge passes
// the blocks of the ranks below it, each once. Scratch for the blocks of the ranks below. Needs a
// tree over the same ranks that hangs from the root, and equal blocks: ranks on the way know no
// others' lengths.
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_tree.h"
#include "core/algorithms/tree_walk.h"

namespace mutirao::gather {

Schedule tree(const Request& request) {
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

}  // namespace mutirao::gather
