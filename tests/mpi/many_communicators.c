/* many_communicators alive|short|hasty|early N: N communicators of all ranks, each with one broadcast, or with
 * three if they are hasty; all alive at once, or freed after their use. Prints how long they took and how
 * much the memory grew. After the hasty ones another one is used for long. The early ones come before the first
 * collective on MPI_COMM_WORLD, which has twenty. */
#include "checked.h"

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect(argc == 3, "usage: many_communicators alive|short|hasty|early N", argc);
    const int keep = strcmp(argv[1], "alive") == 0;
    const int hasty = strcmp(argv[1], "hasty") == 0;
    const int early = strcmp(argv[1], "early") == 0;
    const int count = atoi(argv[2]);
    MPI_Comm* const comms = malloc((size_t)count * sizeof *comms);
    end_within(100);
    if (!early) {
        broadcasts_checked(MPI_COMM_WORLD, 20);
    }
    const long before_kib = resident_kib();
    const double begun = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -world_rank : world_rank, &comms[i]);
        if (hasty) {
            broadcasts_checked(comms[i], 3);
        } else {
            broadcast_checked(comms[i], i % world_size, 6, i);
        }
        if (!keep) {
            MPI_Comm_free(&comms[i]);
        }
    }
    for (int i = 0; keep && i < count; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    const double took = MPI_Wtime() - begun;
    if (early) {
        broadcasts_checked(MPI_COMM_WORLD, 20);
    }
    if (hasty) {
        MPI_Comm last;
        MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &last);
        MPI_Comm_set_name(last, "used for long");
        for (int i = 0; i < 200; ++i) {
            broadcasts_checked(last, 2);
            usleep(2000);
        }
        MPI_Comm_free(&last);
    }
    char text[80];
    snprintf(text, sizeof text, "%.3f s %ld KiB", took, resident_kib() - before_kib);
    free(comms);
    end(text);
    return 0;
}
