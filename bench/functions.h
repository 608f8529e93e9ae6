/* MPI's collective functions: as the program is linked, which a preloaded library may have taken, or the MPI
 * library's own, past whatever is preloaded. */
#ifndef MUTIRAO_BENCH_FUNCTIONS_H
#define MUTIRAO_BENCH_FUNCTIONS_H

#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The library that a function is in which nobody preloads. */
static void* mpi_library(void) {
    Dl_info found;
    void* const any = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    void* const library =
        any != NULL && dladdr(any, &found) != 0 ? dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library == NULL) {
        fprintf(stderr, "no MPI library is found whose own functions could be called\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return library;
}

static inline const struct functions* natives(void) {
    static struct functions found;
    if (found.Barrier == NULL) {
        void* const library = mpi_library();
#define FIND(name) *(void**)&found.name = dlsym(library, "MPI_" #name);
        EACH_FUNCTION(FIND)
#undef FIND
    }
    return &found;
}

#endif
