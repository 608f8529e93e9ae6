/* The collectives by arguments of the program's own, in the form with large counts, too; checks that are counted. */
#pragma once

#include "../../bench/calls.h"
#include "checked.h"

enum { most_ranks = 64 };

static _Thread_local long checks;

static inline void check(int condition, const char* what, long detail) {
    expect(condition, what, detail);
    ++checks;
}

static inline void end_counted(void) {
    char text[40];
    snprintf(text, sizeof text, "%ld", checks);
    end(text);
}

struct place {
    MPI_Comm comm;
    int rank, size;
};

static inline struct place place_on(MPI_Comm comm) {
    struct place here = {comm, 0, 0};
    MPI_Comm_rank(comm, &here.rank);
    MPI_Comm_size(comm, &here.size);
    return here;
}

/* Of the calls that this thread makes now: their data are others than those of calls with another. */
static _Thread_local int seed;

#if MPI_VERSION >= 4
struct large_part {
    void* data;
    MPI_Count count;
    MPI_Datatype type;
    const MPI_Count* counts;
    const MPI_Aint* places;
    const MPI_Datatype* types;
};

struct large_arguments {
    struct large_part send, receive;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

#define CALL(name, function, ...) \
    static inline int name##_c(const struct large_arguments* a) { return MPI_##function##_c(__VA_ARGS__); }
EACH_CALL_WITH_DATA(CALL)
#undef CALL

#define ROW(name, ...) name##_c,
static int (*const by_large_counts[collective_count])(const struct large_arguments*) = {
    NULL, /* a barrier has no data */
    EACH_CALL_WITH_DATA(ROW)};
#undef ROW

/* Arrays are copied into `counts` and `places`; what means nothing on a rank is nowhere. */
static inline struct large_part large_of(const struct part* part, int size, MPI_Count* counts, MPI_Aint* places) {
    for (int i = 0; part->counts != NULL && i < size; ++i) {
        counts[i] = part->counts[i];
        places[i] = part->places == NULL ? 0 : part->places[i];
    }
    return (struct large_part){part->data, part->count, part->type, part->counts == NULL ? NULL : counts,
                               part->counts == NULL ? NULL : places, part->types};
}
#endif

static inline int call(const struct collective* it, const struct arguments* a) {
#if MPI_VERSION >= 4
    if (a->large && it->run != barrier) {
        int size;
        MPI_Comm_size(a->comm, &size);
        MPI_Count sent[most_ranks], received[most_ranks];
        MPI_Aint from[most_ranks], to[most_ranks];
        const struct large_arguments large = {large_of(&a->send, size, sent, from),
                                              large_of(&a->receive, size, received, to), a->op, a->root, a->comm};
        return by_large_counts[it - collectives](&large);
    }
#endif
    return it->run(a);
}
