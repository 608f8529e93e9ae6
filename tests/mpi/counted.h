/* Checks that are counted, where a call is made, and counts as large as MPI 4 takes them. */
#pragma once

#include "checked.h"

static long checks;

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

#if MPI_VERSION >= 4
static inline MPI_Count* large_counts(const int* counts, int size) {
    MPI_Count* const made = malloc((size_t)size * sizeof(MPI_Count));
    for (int i = 0; i < size; ++i) {
        made[i] = counts[i];
    }
    return made;
}

static inline MPI_Aint* large_places(const int* places, int size) {
    MPI_Aint* const made = malloc((size_t)size * sizeof(MPI_Aint));
    for (int i = 0; i < size; ++i) {
        made[i] = places[i];
    }
    return made;
}
#endif
