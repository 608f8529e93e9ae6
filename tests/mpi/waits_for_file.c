/* Some barriers, then rank 0 is outside MPI until the file argv[1] is there. */
#include "checked.h"

int main(int argc, char** argv) {
    begin(&argc, &argv);
    for (int call = 0; call < 100; ++call) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    while (world_rank == 0 && access(argv[1], F_OK) != 0) {
        usleep(10000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end("ok");
    return 0;
}
