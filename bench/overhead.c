/* Processor time that a repeated MPI_Bcast of --bytes costs a rank, and what a call costs on
 * MPI_COMM_SELF, which mutirao does not handle: --calls of each, printed as one JSON line. Processor
 * time, not wall time, since it is what a preload library adds and what a shared machine repeats. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double processor_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double cost_ns(char* data, int bytes, long calls, MPI_Comm comm) {
    for (long i = 0; i < calls / 10 + 1; ++i) {
        MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
    }
    const double begin = processor_ns();
    for (long i = 0; i < calls; ++i) {
        MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
    }
    return (processor_ns() - begin) / (double)calls;
}

int main(int argc, char** argv) {
    int bytes = 8, rank;
    long calls = 1000000;
    char data[65536] = {0};
    MPI_Init(&argc, &argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--bytes") == 0) {
            bytes = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--calls") == 0) {
            calls = atol(argv[i + 1]);
        }
    }
    if (bytes < 0 || bytes > (int)sizeof data || calls < 1) {
        fprintf(stderr, "overhead: --bytes takes 0..65536, --calls at least 1\n");
        MPI_Finalize();
        return 2;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double alone = cost_ns(data, bytes, calls, MPI_COMM_SELF);
    const double mine = cost_ns(data, bytes, calls, MPI_COMM_WORLD);
    double sum;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        printf("{\"bytes\":%d,\"calls\":%ld,\"self_ns\":%.2f,\"world_ns\":%.2f}\n", bytes, calls, alone,
               sum / size);
    }
    MPI_Finalize();
    return 0;
}
