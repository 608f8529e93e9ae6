/* The collectives by arguments of the program's own, in the form with large counts, too. */
#pragma once

#include "../../bench/calls.h"
#include "checked.h"

enum { most_ranks = 64 };

#if MPI_VERSION >= 4
struct large {
    MPI_Count counts[most_ranks];
    MPI_Aint places[most_ranks];
};

/* What a part has. */
static inline struct large large_of(const struct part* part, MPI_Comm comm) {
    struct large made = {{0}, {0}};
    int size;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; ++i) {
        made.counts[i] = part->counts == NULL ? 0 : part->counts[i];
        made.places[i] = part->places == NULL ? 0 : part->places[i];
    }
    return made;
}

/* What means nothing on a rank is nowhere. */
static inline int call_by_large_counts(call_of* it, const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    const struct large sent = large_of(from, a->comm), received = large_of(to, a->comm);
    const MPI_Count *const out = from->counts == NULL ? NULL : sent.counts,
                    *const in = to->counts == NULL ? NULL : received.counts;
    const MPI_Aint *const out_places = from->counts == NULL ? NULL : sent.places,
                   *const in_places = to->counts == NULL ? NULL : received.places;
    if (it == scatterv) {
        return MPI_Scatterv_c(from->data, out, out_places, from->type, to->data, to->count, to->type, a->root, a->comm);
    }
    if (it == gatherv) {
        return MPI_Gatherv_c(from->data, from->count, from->type, to->data, in, in_places, to->type, a->root, a->comm);
    }
    if (it == allgatherv) {
        return MPI_Allgatherv_c(from->data, from->count, from->type, to->data, in, in_places, to->type, a->comm);
    }
    if (it == reduce_scatter) {
        return MPI_Reduce_scatter_c(from->data, to->data, in, to->type, a->op, a->comm);
    }
    return it == alltoallv ? MPI_Alltoallv_c(from->data, out, out_places, from->type, to->data, in, in_places, to->type,
                                             a->comm)
                           : MPI_Alltoallw_c(from->data, out, out_places, from->types, to->data, in, in_places,
                                             to->types, a->comm);
}
#endif

static inline int call(const struct collective* it, const struct arguments* a) {
#if MPI_VERSION >= 4
    if (a->large && it->uneven) {
        return call_by_large_counts(it->run, a);
    }
#endif
    return it->run(a);
}
