/* ahead WHAT: what is done ahead of calls that will need it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#include "checked.h"

/* PMIx 4.1, chapter 3. */
struct process { char nspace[256]; uint32_t rank; };
struct value { uint16_t type; union { char flag; void* pointers[3]; } data; };
struct info { char key[512]; uint32_t flags; struct value value; };

#ifndef OPEN_MPI /* nothing to be asked for */
#define OMPI_MAJOR_VERSION 0
#define OMPI_MINOR_VERSION 0
#endif
#define TEXT_OF(number) #number
#define KEY_OF(major, minor) "btl.tcp." TEXT_OF(major) "." TEXT_OF(minor)

/* Soon after a first MPI_Barrier, of how many other ranks does this process know the address by PMIx, without asking
 * anybody? Says "known N of M", the least of all ranks. */
static void addresses(void) {
    void* const library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    const char* const nspace = getenv("PMIX_NAMESPACE");
    expect(library != NULL && nspace != NULL, "no PMIx", 0);
    int (*get)(const struct process*, const char*, const struct info*, size_t, void**);
    *(void**)&get = dlsym(library, "PMIx_Get");
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(2);
    static struct info in_this_process = {"pmix.optional", 0, {1, {1}}};
    static struct process other;
    strncpy(other.nspace, nspace, sizeof other.nspace - 1);
    int known = 0, least = 0;
    for (int rank = 0; rank < world_size; ++rank) {
        void* value;
        other.rank = (uint32_t)rank;
        known += rank != world_rank && get(&other, KEY_OF(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION), &in_this_process, 1,
                                           &value) == 0;
    }
    MPI_Reduce(&known, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    snprintf(said, sizeof said, "known %d of %d", least, world_size - 1);
}

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

/* Which messages without data are sent, and to whom, in two allreduces by recursive doubling and a gather straight to
 * rank 1. Whatever sends by PMPI_Isend comes by here. */
static void edges_sent(int wanted) {
    int mine = 1, sum = 0, all[most_ranks];
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
}

static void edges(void) { edges_sent(1); }
static void no_edges(void) { edges_sent(0); }

int main(int argc, char** argv) {
    static const struct use uses[] = {{"addresses", addresses}, {"edges", edges}, {"no_edges", no_edges}, {NULL, NULL}};
    return run_use(argc, argv, uses);
}
