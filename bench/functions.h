/* MPI's collective functions as the MPI library has them, past whatever is preloaded. */
#ifndef MUTIRAO_BENCH_FUNCTIONS_H
#define MUTIRAO_BENCH_FUNCTIONS_H

#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>

#include "calls.h"

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
#define FIND(name, function, ...) *(void**)&found.function = dlsym(library, "MPI_" #function);
        EACH_CALL(FIND)
#undef FIND
    }
    return &found;
}

#endif
