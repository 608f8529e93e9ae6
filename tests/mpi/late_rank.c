/* Rank 0 comes late by a second, and once a hundred calls behind, while MPI lets the root of the
 * broadcasts run ahead. Prints how long the root's calls took meanwhile, in milliseconds. */
#include "checked.h"

static double calls_ms(int calls, int seed) {
    const double begun = MPI_Wtime();
    for (int call = 0; call < calls; ++call) {
        broadcast_checked(MPI_COMM_WORLD, 1, 2, seed + call);
    }
    return (MPI_Wtime() - begun) * 1000;
}

int main(int argc, char** argv) {
    double took_ms[2];
    begin(&argc, &argv);
    for (int call = 0; call < 100; ++call) { /* until what is to be decided is decided */
        broadcast_checked(MPI_COMM_WORLD, 1, 2, call);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int time = 0; time < 2; ++time) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0) {
            sleep(1);
        }
        took_ms[time] = calls_ms(time == 0 ? 1 : 100, time * 1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double roots[2] = {took_ms[0], took_ms[1]};
    MPI_Bcast(roots, 2, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    char text[80];
    snprintf(text, sizeof text, "%.1f %.1f", roots[0], roots[1]);
    end(text);
    return 0;
}
