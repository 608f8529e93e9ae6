/* edges_ahead: which messages without data are sent, and to whom, in two allreduces by recursive doubling and a gather
 * straight to rank 1. Whatever sends by PMPI_Isend comes by here. Arguments: 1 or 0, whether edges are to be connected ahead. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "checked.h"

enum { most_ranks = 64 };
static int empty_messages[most_ranks];

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
    static int (*library_s_own)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    if (library_s_own == NULL) {
        *(void**)&library_s_own = dlsym(RTLD_NEXT, "PMPI_Isend");
    }
    if (count == 0 && rank >= 0 && rank < most_ranks) {
        ++empty_messages[rank];
    }
    return library_s_own(data, count, type, rank, tag, comm, request);
}

static void expect_sent_to(int bits_of_ranks, const char* when) {
    for (int rank = 0; rank < world_size; ++rank) {
        expect(empty_messages[rank] == (bits_of_ranks >> rank & 1), when, rank);
    }
}

int main(int argc, char** argv) {
    int mine = 1, sum = 0, all[most_ranks];
    begin(&argc, &argv);
    const int wanted = argc == 2 && atoi(argv[1]);
    expect(world_size == 4, "needs 4 ranks, not", world_size);
    int neighbours = 0;
    for (int distance = 1; distance < world_size; distance *= 2) {
        const int other = world_rank ^ distance;
        neighbours |= (wanted && other > world_rank) << other;
    }
    for (int call = 0; call < 2; ++call) {
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world_size, "wrong sum", sum);
        expect_sent_to(neighbours, "other edges than those of an allreduce, rank");
    }
    /* 0 and 3 have met rank 1, 2 has not. */
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    expect_sent_to(neighbours | (wanted && world_rank == 1) << 2, "other edges than those of a gather, rank");
    end("");
    return 0;
}
