/* The same sum of doubles again and again for two seconds, of widely different size, so that another order of
 * adding them shows. Rank 0 tells the numbers of the calls on MPI_COMM_WORLD, from 0, whose sum has other bits
 * than that of the one before. */
#include <math.h>

#include "checked.h"

enum { COUNT = 64, BATCH = 200 };

int main(int argc, char** argv) {
    double mine[COUNT], sum[COUNT], before[COUNT];
    long call = 0, sums = 0;
    int goes_on = 1;
    begin(&argc, &argv);
    const double begun = MPI_Wtime();
    for (int i = 0; i < COUNT; ++i) {
        mine[i] = ldexp(1.0 + world_rank / 3.0, (world_rank * 17 + i * 5) % 60 - 30);
    }
    while (goes_on) {
        for (int i = 0; i < BATCH; ++i, ++call) {
            MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (world_rank == 0 && sums++ > 0 && memcmp(sum, before, sizeof sum) != 0) {
                printf("%ld\n", call);
            }
            memcpy(before, sum, sizeof sum);
        }
        goes_on = MPI_Wtime() - begun < 2;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        ++call;
    }
    end("ok");
    return 0;
}
