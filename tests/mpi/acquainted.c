/* acquainted all | unheard | half: calls enough for a private communicator, of all ranks; of all, of which rank 1 hears
 * nothing from its launcher of the others; of the lower half, while the others only wait for a message. */
#include "checked.h"

static void calls(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < 150; ++call) {
        int sum = 0;
        MPI_Allreduce(&call, &sum, 1, MPI_INT, MPI_SUM, comm);
        expect(sum == call * size, "wrong sum", call);
    }
}

static void calls_of_lower_half(void) {
    MPI_Group all, lower;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int range[1][3] = {{0, world_size / 2 - 1, 1}};
    MPI_Group_range_incl(all, 1, range, &lower);
    if (world_rank < world_size / 2) {
        MPI_Comm comm;
        MPI_Comm_create_group(MPI_COMM_WORLD, lower, 0, &comm);
        calls(comm);
        MPI_Send(NULL, 0, MPI_INT, world_rank + world_size / 2, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, world_rank - world_size / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Group_free(&lower);
    MPI_Group_free(&all);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    const char* const what = argc > 1 ? argv[1] : "all";
    if (strcmp(what, "unheard") == 0 && world_rank == 1) {
        unsetenv("PMIX_NAMESPACE");
    }
    if (strcmp(what, "half") == 0) {
        calls_of_lower_half();
    } else {
        calls(MPI_COMM_WORLD);
    }
    end("");
    return 0;
}
