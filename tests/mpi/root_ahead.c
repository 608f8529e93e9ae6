/* root_ahead: the root of 300 short broadcasts is through long before a rank that comes late to the first of them. */
#include "checked.h"

enum { calls = 300, late_us = 2000000 };

int main(int argc, char** argv) {
    int data = 0;
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == world_size - 1) {
        usleep(late_us);
    }
    const double begun_s = MPI_Wtime();
    for (int call = 0; call < calls; ++call) {
        data = world_rank == 0 ? call : -1;
        MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        expect(data == call, "wrong data", call);
    }
    expect(world_rank != 0 || MPI_Wtime() - begun_s < late_us / 2e6, "the root waited", calls);
    broadcasts_checked(MPI_COMM_WORLD, 4);
    end("");
    return 0;
}
