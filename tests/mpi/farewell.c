/* farewell: 150 allreduces, so that a private communicator is made, and MPI_Finalize. Rank 0 prints "ok N", where N is how
 * many nonblocking barriers were begun on the way: they all come by here. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "checked.h"

static int barriers;

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    static int (*library_s_own)(MPI_Comm, MPI_Request*);
    if (library_s_own == NULL) {
        *(void**)&library_s_own = dlsym(RTLD_NEXT, "PMPI_Ibarrier");
    }
    ++barriers;
    return library_s_own(comm, request);
}

int main(int argc, char** argv) {
    int mine = 1, sum = 0;
    begin(&argc, &argv);
    for (int call = 0; call < 150; ++call) {
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world_size, "wrong sum in call", call);
    }
    MPI_Finalize();
    if (world_rank == 0) {
        printf("ok %d\n", barriers);
    }
    return 0;
}
