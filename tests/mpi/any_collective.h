/* Calls of any collective that check themselves. */
#pragma once

#include "blocks_check.h"
#include "reductions_check.h"

/* Collective `which` of `count` ints, from or to `root`; data depend on `with_seed`. */
static inline void call_checked(MPI_Comm comm, int which, int count, int root, int with_seed) {
    const struct place here = place_on(comm);
    const struct collective* const it = &collectives[which];
    const struct way way = {.pattern = all_alike, .length = count};
    const struct kind ints = ints_added();
    seed = with_seed;
    if (it->run == barrier) {
        MPI_Barrier(comm);
    } else if (it->run == broadcast) {
        broadcast_checked(comm, root, count, seed);
    } else if (it->reduces) {
        reduction(here, it, &ints, count, root, 0);
    } else {
        move_blocks(here, it, way, root);
    }
}
