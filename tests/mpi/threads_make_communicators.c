/* Threads that make, use and free communicators at the same time (MPI_THREAD_MULTIPLE), each from one
 * of its own. Some are smaller, some larger than those made meanwhile by other threads. */
#include <pthread.h>

#include "checked.h"

enum { thread_count = 3, rounds = 6 };

static MPI_Comm roots[thread_count];

static void* work(void* argument) {
    const int thread = (int)(long)argument;
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm whole, part;
        MPI_Comm_dup(roots[thread], &whole);
        broadcasts_checked(whole, 5);
        MPI_Comm_split(whole, (world_rank + thread) % 2, -world_rank, &part);
        broadcasts_checked(part, 5);
        MPI_Comm_free(&part);
        broadcasts_checked(roots[thread], 2);
        MPI_Comm_free(&whole);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    pthread_t threads[thread_count];
    end_within(40);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    know_the_world();
    if (provided != MPI_THREAD_MULTIPLE) {
        end("skipped: no threads");
        return 0;
    }
    for (int i = 0; i < thread_count; ++i) { /* the first of all ranks, the others of all but one */
        MPI_Comm_split(MPI_COMM_WORLD, i > 0 && world_rank == 0, world_rank, &roots[i]);
    }
    for (long i = 0; i < thread_count; ++i) {
        pthread_create(&threads[i], NULL, work, (void*)i);
    }
    for (int i = 0; i < thread_count; ++i) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&roots[i]);
    }
    broadcasts_checked(MPI_COMM_WORLD, 5);
    end("");
    return 0;
}
