/* Checks that are counted, and where a call is made. */
#pragma once

#include "checked.h"

static long checks;

static inline void check(int condition, const char* what, long detail) {
    expect(condition, what, detail);
    ++checks;
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
