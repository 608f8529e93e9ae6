/* Fault tolerance (ULFM): instead of broadcasting, the root revokes the communicator. Ranks that wait
 * in the broadcast must learn so; the others' communicator goes on. */
#include "checked.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>

int main(int argc, char** argv) {
    begin(&argc, &argv);
    for (int time = 0; time < 3; ++time) {
        MPI_Comm comm;
        int code = MPI_SUCCESS, data[300] = {0};
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        broadcasts_checked(comm, 20);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (world_rank == 0) {
            usleep(50000);
            MPIX_Comm_revoke(comm);
        } else {
            code = MPI_Bcast(data, 300, MPI_INT, 0, comm);
            MPI_Error_class(code, &code);
            expect(code == MPIX_ERR_REVOKED, "the broadcast ended otherwise", code);
        }
        MPI_Comm_free(&comm);
        broadcasts_checked(MPI_COMM_WORLD, 8);
    }
    end("");
    return 0;
}
#else
int main(int argc, char** argv) {
    begin(&argc, &argv);
    end("skipped: no fault tolerance");
    return 0;
}
#endif
