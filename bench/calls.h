/* The collectives: how each is called, by one form of arguments of which it takes what it has, and what it moves. The
 * functions are MPI's as the program is linked, which a preloaded library may have taken, or others of the same names. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <string.h>

#define ONE(part) (part).data, (part).count, (part).type
#define EACH(part) (part).data, (part).counts, (part).places, (part).type
#define EACH_WITH_TYPE(part) (part).data, (part).counts, (part).places, (part).types
#define OPERANDS(counted) a->send.data, a->receive.data, a->receive.counted, a->receive.type, a->op

/* By our name and MPI's: what the function takes of the arguments `a`. */
#define EACH_CALL(X) X(barrier, Barrier, a->comm) EACH_CALL_WITH_DATA(X)
#define EACH_CALL_WITH_DATA(X)                                                                      \
    X(broadcast, Bcast, ONE(a->receive), a->root, a->comm)                                          \
    X(gather, Gather, ONE(a->send), ONE(a->receive), a->root, a->comm)                              \
    X(scatter, Scatter, ONE(a->send), ONE(a->receive), a->root, a->comm)                            \
    X(allgather, Allgather, ONE(a->send), ONE(a->receive), a->comm)                                 \
    X(alltoall, Alltoall, ONE(a->send), ONE(a->receive), a->comm)                                   \
    X(reduce, Reduce, OPERANDS(count), a->root, a->comm)                                            \
    X(allreduce, Allreduce, OPERANDS(count), a->comm)                                               \
    X(reduce_scatter_block, Reduce_scatter_block, OPERANDS(count), a->comm)                         \
    X(scan, Scan, OPERANDS(count), a->comm)                                                         \
    X(exscan, Exscan, OPERANDS(count), a->comm)                                                     \
    X(gatherv, Gatherv, ONE(a->send), EACH(a->receive), a->root, a->comm)                           \
    X(scatterv, Scatterv, EACH(a->send), ONE(a->receive), a->root, a->comm)                         \
    X(allgatherv, Allgatherv, ONE(a->send), EACH(a->receive), a->comm)                              \
    X(alltoallv, Alltoallv, EACH(a->send), EACH(a->receive), a->comm)                               \
    X(alltoallw, Alltoallw, EACH_WITH_TYPE(a->send), EACH_WITH_TYPE(a->receive), a->comm)           \
    X(reduce_scatter, Reduce_scatter, OPERANDS(counts), a->comm)

struct functions {
#define MEMBER(name, function, ...) __typeof__(&MPI_##function) function;
    EACH_CALL(MEMBER)
#undef MEMBER
};

#define AS_LINKED(name, function, ...) MPI_##function,
static const struct functions as_linked = {EACH_CALL(AS_LINKED)};
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
    int large; /* by the form with large counts, where the program can */
};

typedef int call_of(const struct arguments*);

#define CALL(name, function, ...) \
    static inline int name(const struct arguments* a) { return functions->function(__VA_ARGS__); }
EACH_CALL(CALL)
#undef CALL

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
