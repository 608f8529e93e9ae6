/* sums WHAT: programs that add up a number of each rank again and again, whatever else goes on, and check each sum. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>

#include "checked.h"

/* Of the first `ranks` of MPI_COMM_WORLD, which are those of `comm`. */
static void sum_of(MPI_Comm comm, int ranks, int call) {
    const int mine = call + world_rank;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == ranks * call + ranks * (ranks - 1) / 2, "wrong sum in call", call);
}

static void sum_checked(int call) { sum_of(MPI_COMM_WORLD, world_size, call); }

static void sums_checked(int calls) {
    for (int call = 0; call < calls; ++call) {
        sum_checked(call);
    }
}

static int nonblocking_barriers;

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    static int (*library_s_own)(MPI_Comm, MPI_Request*);
    if (library_s_own == NULL) {
        *(void**)&library_s_own = dlsym(RTLD_NEXT, "PMPI_Ibarrier");
    }
    ++nonblocking_barriers;
    return library_s_own(comm, request);
}

/* So many that a private communicator is made, and MPI_Finalize. Rank 0 prints "ok N", where N is how many nonblocking
 * barriers were begun on the way: they all come by here. */
static void farewell(void) {
    sums_checked(150);
    MPI_Finalize();
    snprintf(said, sizeof said, "%d", nonblocking_barriers);
}

/* What is set up meanwhile meets a receive that takes any message on the same communicator, and a nonblocking barrier
 * of another one, which the last rank enters only afterwards. */
static void pending_meanwhile(void) {
    enum { calls = 600, tag = 7 };
    int received = -1;
    MPI_Request requests[2];
    MPI_Comm other;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int last = world_rank == world_size - 1;
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    if (!last) {
        MPI_Ibarrier(other, &requests[1]);
    }
    for (int call = 0; call < calls; ++call) {
        sum_checked(call);
        int there = 0;
        if (call < calls - 1) {
            MPI_Test(&requests[0], &there, MPI_STATUS_IGNORE);
        }
        expect(!there, "somebody else's message after call", call);
    }
    if (last) {
        MPI_Ibarrier(other, &requests[1]);
    }
    const int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size;
    MPI_Send(&world_rank, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    expect(received == before && status.MPI_SOURCE == before && status.MPI_TAG == tag, "another message", received);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
}

/* As many communicators as the MPI library allows, or 3000. Rank 0 prints "ok none left" or "ok". */
static void no_more_communicators(void) {
    enum { most = 3000 };
    static MPI_Comm comms[most];
    int made = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (made < most && MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS) {
        ++made;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    sums_checked(600);
    for (int i = 0; i < made; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    strcpy(said, made < most ? "none left" : "");
}

/* A rank does not hear from its launcher of the others; they hear of it, and go on with it. */
static void without_launcher(void) {
    if (world_rank == 1) {
        unsetenv("PMIX_NAMESPACE");
        unsetenv("MUTIRAO_RENDEZVOUS");
    }
    sums_checked(150);
}

/* The lower half of the ranks, while each of the others waits for a message and for nothing else. */
static void lower_half(void) {
    const int ranks = world_size / 2;
    int range[1][3] = {{0, ranks - 1, 1}};
    MPI_Group all, lower;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &lower);
    if (world_rank < ranks) {
        MPI_Comm comm;
        MPI_Comm_create_group(MPI_COMM_WORLD, lower, 0, &comm);
        for (int call = 0; call < 150; ++call) {
            sum_of(comm, ranks, call);
        }
        MPI_Send(NULL, 0, MPI_INT, world_rank + ranks, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, world_rank - ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Group_free(&lower);
    MPI_Group_free(&all);
}

/* Long ones of many lengths. What is kept of them must not grow with their number. */
static void many_lengths(void) {
    enum { lengths = 40, step = 1 << 14, most = (1 << 20) + lengths * step };
    const long longest_bytes = (long)(most * sizeof(int));
    int* const from = malloc((size_t)longest_bytes);
    int* const to = malloc((size_t)longest_bytes);
    for (int i = 0; i < most; ++i) {
        from[i] = i % 1000 + world_rank;
        to[i] = 0;
    }
    MPI_Allreduce(from, to, 1 << 20, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const long before_kib = resident_kib();
    for (int number = 0; number < lengths; ++number) {
        const int count = (1 << 20) + number * step;
        MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i += 997) {
            expect(to[i] == world_size * (i % 1000) + world_size * (world_size - 1) / 2, "wrong sum", i);
        }
    }
    const long grown_kib = resident_kib() - before_kib;
    expect(grown_kib <= 2 * (longest_bytes >> 10) + (16 << 10), "memory has grown by so many KiB", grown_kib);
    free(from);
    free(to);
}

/* The same sum of doubles again and again, of widely different size, so that another order of adding them shows.
 * Rank 0 tells the numbers of the calls, from 0, whose sum has other bits than that of the one before. It ends a
 * second after it has seen the first of these, or after ten seconds, and says so to the others by one double more:
 * no call is anything but such a sum. */
static void told(void) {
    enum { count = 64 };
    double mine[count + 1] = {0}, sum[count + 1], before[count];
    int changed = 0;
    double end_s = MPI_Wtime() + 10;
    for (int i = 0; i < count; ++i) {
        mine[i] = ldexp(1.0 + world_rank / 3.0, (world_rank * 17 + i * 5) % 60 - 30);
    }
    sum[count] = 0;
    for (long call = 0; sum[count] == 0; ++call) {
        mine[count] = world_rank == 0 && MPI_Wtime() > end_s;
        MPI_Allreduce(mine, sum, count + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (world_rank == 0 && call > 0 && memcmp(sum, before, sizeof before) != 0) {
            printf("%ld\n", call);
            end_s = changed ? end_s : fmin(end_s, MPI_Wtime() + 1);
            changed = 1;
        }
        memcpy(before, sum, sizeof before);
    }
}

int main(int argc, char** argv) {
    static const struct use uses[] = {{"farewell", farewell},
                                      {"pending_meanwhile", pending_meanwhile},
                                      {"no_more_communicators", no_more_communicators},
                                      {"without_launcher", without_launcher},
                                      {"lower_half", lower_half},
                                      {"many_lengths", many_lengths},
                                      {"told", told},
                                      {NULL, NULL}};
    return run_use(argc, argv, uses);
}
