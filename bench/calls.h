/* The collectives: how each is called, by one form of arguments of which it takes what it has, and what it moves. The
 * functions are MPI's as the program is linked, which a preloaded library may have taken, or others of the same names. */
#ifndef MUTIRAO_BENCH_CALLS_H
#define MUTIRAO_BENCH_CALLS_H

#include <mpi.h>
#include <stddef.h>
#include <string.h>

#define EACH_FUNCTION(X)                                                                            \
    X(Barrier) X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv)      \
    X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter_block)            \
    X(Reduce_scatter) X(Scan) X(Exscan)

struct functions {
#define MEMBER(name) __typeof__(&MPI_##name) name;
    EACH_FUNCTION(MEMBER)
#undef MEMBER
};

#define AS_LINKED(name) MPI_##name,
static const struct functions as_linked = {EACH_FUNCTION(AS_LINKED)};
#undef AS_LINKED

static const struct functions* functions = &as_linked;

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

static inline int barrier(const struct arguments* a) { return functions->Barrier(a->comm); }
static inline int broadcast(const struct arguments* a) {
    return functions->Bcast(a->receive.data, a->receive.count, a->receive.type, a->root, a->comm);
}
static inline int gather(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Gather(from->data, from->count, from->type, to->data, to->count, to->type, a->root, a->comm);
}
static inline int scatter(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Scatter(from->data, from->count, from->type, to->data, to->count, to->type, a->root, a->comm);
}
static inline int allgather(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Allgather(from->data, from->count, from->type, to->data, to->count, to->type, a->comm);
}
static inline int alltoall(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Alltoall(from->data, from->count, from->type, to->data, to->count, to->type, a->comm);
}

static inline int reduce(const struct arguments* a) {
    return functions->Reduce(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->root, a->comm);
}
static inline int allreduce(const struct arguments* a) {
    return functions->Allreduce(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}
static inline int reduce_scatter_block(const struct arguments* a) {
    return functions->Reduce_scatter_block(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}
static inline int scan(const struct arguments* a) {
    return functions->Scan(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}
static inline int exscan(const struct arguments* a) {
    return functions->Exscan(a->send.data, a->receive.data, a->receive.count, a->receive.type, a->op, a->comm);
}

static inline int gatherv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Gatherv(from->data, from->count, from->type, to->data, to->counts, to->places, to->type, a->root,
                       a->comm);
}
static inline int scatterv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Scatterv(from->data, from->counts, from->places, from->type, to->data, to->count, to->type, a->root,
                        a->comm);
}
static inline int allgatherv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Allgatherv(from->data, from->count, from->type, to->data, to->counts, to->places, to->type, a->comm);
}
static inline int alltoallv(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Alltoallv(from->data, from->counts, from->places, from->type, to->data, to->counts, to->places, to->type,
                         a->comm);
}
static inline int alltoallw(const struct arguments* a) {
    const struct part *from = &a->send, *to = &a->receive;
    return functions->Alltoallw(from->data, from->counts, from->places, from->types, to->data, to->counts, to->places,
                         to->types, a->comm);
}
static inline int reduce_scatter(const struct arguments* a) {
    return functions->Reduce_scatter(a->send.data, a->receive.data, a->receive.counts, a->receive.type, a->op, a->comm);
}

/* What a rank hands over, or gets. */
enum share { nothing, one_block, block_per_rank };

/* Whose operands a rank gets combined. */
enum reduction { no_reduction, of_all, up_to_mine, before_mine };

static const struct collective {
    const char* name;
    call_of* run;
    enum share gives, gets;
    enum reduction reduces;
    int rooted;
    int uneven; /* with a count for each rank */
} collectives[] = {
    {"barrier", barrier, nothing, nothing, no_reduction, 0, 0},
    {"broadcast", broadcast, one_block, one_block, no_reduction, 1, 0},
    {"gather", gather, one_block, block_per_rank, no_reduction, 1, 0},
    {"scatter", scatter, block_per_rank, one_block, no_reduction, 1, 0},
    {"allgather", allgather, one_block, block_per_rank, no_reduction, 0, 0},
    {"alltoall", alltoall, block_per_rank, block_per_rank, no_reduction, 0, 0},
    {"reduce", reduce, one_block, one_block, of_all, 1, 0},
    {"allreduce", allreduce, one_block, one_block, of_all, 0, 0},
    {"reduce_scatter_block", reduce_scatter_block, block_per_rank, one_block, of_all, 0, 0},
    {"scan", scan, one_block, one_block, up_to_mine, 0, 0},
    {"exscan", exscan, one_block, one_block, before_mine, 0, 0},
    {"gatherv", gatherv, one_block, block_per_rank, no_reduction, 1, 1},
    {"scatterv", scatterv, block_per_rank, one_block, no_reduction, 1, 1},
    {"allgatherv", allgatherv, one_block, block_per_rank, no_reduction, 0, 1},
    {"alltoallv", alltoallv, block_per_rank, block_per_rank, no_reduction, 0, 1},
    {"alltoallw", alltoallw, block_per_rank, block_per_rank, no_reduction, 0, 1},
    {"reduce_scatter", reduce_scatter, block_per_rank, one_block, of_all, 0, 1},
};
enum { collective_count = sizeof collectives / sizeof *collectives };

/* NULL: there is none of that name. */
static inline const struct collective* find_collective(const char* name) {
    for (int i = 0; i < collective_count; ++i) {
        if (strcmp(collectives[i].name, name) == 0) {
            return &collectives[i];
        }
    }
    return NULL;
}

#endif
