/* The same sum of doubles again and again, of widely different size, so that another order of adding them shows.
 * Rank 0 tells the numbers of the calls, from 0, whose sum has other bits than that of the one before. It ends a
 * second after it has seen the first of these, or after ten seconds, and says so to the others by one double more:
 * no call is anything but such a sum. */
#include <math.h>

#include "checked.h"

enum { COUNT = 64 };

int main(int argc, char** argv) {
    double mine[COUNT + 1] = {0}, sum[COUNT + 1], before[COUNT];
    int changed = 0;
    begin(&argc, &argv);
    double end_s = MPI_Wtime() + 10;
    for (int i = 0; i < COUNT; ++i) {
        mine[i] = ldexp(1.0 + world_rank / 3.0, (world_rank * 17 + i * 5) % 60 - 30);
    }
    sum[COUNT] = 0;
    for (long call = 0; sum[COUNT] == 0; ++call) {
        mine[COUNT] = world_rank == 0 && MPI_Wtime() > end_s;
        MPI_Allreduce(mine, sum, COUNT + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (world_rank == 0 && call > 0 && memcmp(sum, before, sizeof before) != 0) {
            printf("%ld\n", call);
            end_s = changed ? end_s : fmin(end_s, MPI_Wtime() + 1);
            changed = 1;
        }
        memcpy(before, sum, sizeof before);
    }
    end("ok");
    return 0;
}
