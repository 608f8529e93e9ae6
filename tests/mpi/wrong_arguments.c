/* Broadcasts with wrong arguments under MPI_ERRORS_RETURN: one rank errs and then calls rightly, which the others never
 * see. Mistakes that all ranks make at once are in wrong_collectives.c. */
#include "checked.h"

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
    end("");
    return 0;
}
