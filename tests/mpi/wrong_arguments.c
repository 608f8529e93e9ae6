/* Broadcasts with wrong arguments under MPI_ERRORS_RETURN: one rank errs and then calls rightly, which the others never
 * see. Mistakes that all ranks make at once are in wrong_collectives.c. */
#include "checked.h"

/* MPICH finds it out, and asks the handler of MPI_COMM_WORLD where nobody gave MPI_COMM_SELF one. */
static void call_on_freed_communicator(void) {
#ifdef MPICH_VERSION
    MPI_Comm communicator, freed;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    freed = communicator;
    MPI_Comm_free(&communicator);
    expect(MPI_Barrier(freed) != MPI_SUCCESS, "no error on a freed communicator", 0);
#endif
}

int main(int argc, char** argv) {
    int value = 0;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    broadcasts_checked(MPI_COMM_WORLD, 4);
    for (int time = 0; time < 40; ++time) {
        if (world_rank == time % world_size) {
            expect(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "no error", time);
            expect(MPI_Bcast(&value, 1, MPI_INT, -1, MPI_COMM_WORLD) != MPI_SUCCESS, "no error", time);
        }
        broadcast_checked(MPI_COMM_WORLD, time % world_size, 5, time);
    }
    broadcasts_checked(MPI_COMM_WORLD, 20);
    call_on_freed_communicator();
    end("");
    return 0;
}
