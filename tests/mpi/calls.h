/* The collectives, each called with the same arguments, of which it takes what it has. */
#pragma once

#include "checked.h"

enum { most_ranks = 64 };

/* What a call sends, or receives: one block, or with a count for each rank the blocks of all. */
struct part {
    void* data;
    int count;
    MPI_Datatype type;
    const int *counts, *places; /* as MPI takes them */
    const MPI_Datatype* types;
};

struct arguments {
    struct part send, receive;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    int large; /* by the form with large counts, where there is one for each rank */
};

typedef int call_of(const struct arguments*);

static inline int barrier(const struct arguments* a) { return MPI_Barrier(a->comm); }
static inline int broadcast(const struct arguments* a) {
    return MPI_Bcast(a->receive.data, a->receive.count, a->receive.type, a->root, a->comm);
}
static inline int gather(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Gather(from->data, from->count, from->type, to->data, to->count, to->type, a->root, a->comm);
}
static inline int scatter(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Scatter(from->data, from->count, from->type, to->data, to->count, to->type, a->root, a->comm);
}
static inline int allgather(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Allgather(from->data, from->count, from->type, to->data, to->count, to->type, a->comm);
}
static inline int alltoall(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Alltoall(from->data, from->count, from->type, to->data, to->count, to->type, a->comm);
}

static inline int reduce(const struct arguments* a) {
    return MPI_Reduce(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->root, a->comm);
}
static inline int allreduce(const struct arguments* a) {
    return MPI_Allreduce(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}
static inline int reduce_scatter_block(const struct arguments* a) {
    return MPI_Reduce_scatter_block(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}
static inline int scan(const struct arguments* a) {
    return MPI_Scan(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}
static inline int exscan(const struct arguments* a) {
    return MPI_Exscan(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}

static inline int gatherv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Gatherv(from->data, from->count, from->type, to->data, to->counts, to->places, to->type, a->root,
                       a->comm);
}
static inline int scatterv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Scatterv(from->data, from->counts, from->places, from->type, to->data, to->count, to->type, a->root,
                        a->comm);
}
static inline int allgatherv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Allgatherv(from->data, from->count, from->type, to->data, to->counts, to->places, to->type, a->comm);
}
static inline int alltoallv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Alltoallv(from->data, from->counts, from->places, from->type, to->data, to->counts, to->places, to->type,
                         a->comm);
}
static inline int alltoallw(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return MPI_Alltoallw(from->data, from->counts, from->places, from->types, to->data, to->counts, to->places,
                         to->types, a->comm);
}
static inline int reduce_scatter(const struct arguments* a) {
    return MPI_Reduce_scatter(a->send.data, a->receive.data, a->receive.counts, a->receive.type, a->op, a->comm);
}

enum { counted = 1, rooted = 2, two_sided = 4, reducing = 8, uneven = 16 };

static const struct collective {
    const char* name;
    call_of* run;
    int kind;
} collectives[] = {
    {"barrier", barrier, 0},
    {"broadcast", broadcast, counted | rooted},
    {"gather", gather, counted | rooted | two_sided},
    {"scatter", scatter, counted | rooted | two_sided},
    {"allgather", allgather, counted | two_sided},
    {"alltoall", alltoall, counted | two_sided},
    {"reduce", reduce, counted | rooted | reducing},
    {"allreduce", allreduce, counted | reducing},
    {"reduce_scatter_block", reduce_scatter_block, counted | reducing},
    {"scan", scan, counted | reducing},
    {"exscan", exscan, counted | reducing},
    {"gatherv", gatherv, counted | rooted | two_sided | uneven},
    {"scatterv", scatterv, counted | rooted | two_sided | uneven},
    {"allgatherv", allgatherv, counted | two_sided | uneven},
    {"alltoallv", alltoallv, counted | two_sided | uneven},
    {"alltoallw", alltoallw, counted | two_sided | uneven},
    {"reduce_scatter", reduce_scatter, counted | reducing | uneven},
};
enum { collective_count = sizeof collectives / sizeof *collectives };

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
    if (a->large && it->kind & uneven) {
        return call_by_large_counts(it->run, a);
    }
#endif
    return it->run(a);
}
