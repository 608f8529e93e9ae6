/* Checks that are counted, and where a call is made. */
#pragma once

#include "checked.h"

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
