/* Threads that broadcast at the same time, each on its own communicator (MPI_THREAD_MULTIPLE).
 * Prints "ok" from rank 0, or "skipped" where the MPI library does not offer that level. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { thread_count = 4, rounds = 50, length = 3000 };

static int rank, size;
static MPI_Comm comms[thread_count];

static void* work(void* argument) {
    const int thread = (int)(long)argument;
    int data[length];
    for (int round = 0; round < rounds; ++round) {
        const int root = (round + thread) % size;
        for (int i = 0; i < length; ++i) {
            data[i] = rank == root ? thread * 1000000 + round * 1000 + i : -1;
        }
        MPI_Bcast(data, length, MPI_INT, root, comms[thread]);
        for (int i = 0; i < length; ++i) {
            if (data[i] != thread * 1000000 + round * 1000 + i) {
                fprintf(stderr, "broadcast_threads: rank %d thread %d round %d\n", rank, thread, round);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t threads[thread_count];
        for (long i = 0; i < thread_count; ++i) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        }
        for (long i = 0; i < thread_count; ++i) {
            pthread_create(&threads[i], NULL, work, (void*)i);
        }
        for (long i = 0; i < thread_count; ++i) {
            pthread_join(threads[i], NULL);
            MPI_Comm_free(&comms[i]);
        }
    }
    MPI_Finalize();
    if (rank == 0) {
        puts(provided == MPI_THREAD_MULTIPLE ? "ok" : "skipped");
    }
    return 0;
}
