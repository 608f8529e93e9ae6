/* unusual_collectives WHAT: correct programs that use collectives as few do, each checking its own results.
 * messages: the program's own messages and one-sided transfers are under way while ranks wait in collectives.
 * threads: threads call different collectives at once, on communicators that each makes and frees meanwhile, some smaller
 * and some larger than those of the others.
 * communicators: of one rank, between groups, with topologies.
 * nonblocking: nonblocking collectives are pending while blocking ones run.
 * counts: counts for each rank that are others in every call, blocks that overlap where they are only read,
 * buffers that are nowhere, absolute addresses. */
#include <pthread.h>

#include "any_collective.h"

enum { most = 40000 };

static void each_checked(MPI_Comm comm, int with_seed) {
    int size;
    MPI_Comm_size(comm, &size);
    for (int which = 0; which < collective_count; ++which) {
        call_checked(comm, which, 1 + with_seed % 3 * 700, with_seed % size, with_seed + which);
    }
}

/* --- messages ------------------------------------------------------------------------------------------------ */

/* Each rank's synchronous send ends only if the receiver's library works on while it waits in a collective; any
 * receive of the program's takes what comes first, so none of the library's own may pass there. */
static void messages(void) {
    const int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
    static int out[most], in[most], window[most];
    MPI_Win win;
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int which = 0; which < collective_count; ++which) {
        const int count = which % 2 ? most : 5;
        MPI_Request requests[2];
        for (int i = 0; i < count; ++i) {
            out[i] = world_rank * 77 + which + i;
        }
        MPI_Irecv(in, most, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Win_fence(0, win);
        MPI_Put(out, count, MPI_INT, next, 0, count, MPI_INT, win);
        if (world_rank == 1) {
            usleep(20000);
        }
        call_checked(MPI_COMM_WORLD, which, 300, which % world_size, which);
        MPI_Issend(out, count, MPI_INT, next, which, MPI_COMM_WORLD, &requests[1]);
        call_checked(MPI_COMM_WORLD, which, 9000, which % world_size, which + 1);
        MPI_Win_fence(0, win);
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        int received;
        MPI_Get_count(&statuses[0], MPI_INT, &received);
        expect(received == count && statuses[0].MPI_SOURCE == previous && statuses[0].MPI_TAG == which,
               "another message than the program's", which);
        for (int i = 0; i < count; ++i) {
            expect(in[i] == previous * 77 + which + i, "wrong message", which);
            expect(window[i] == in[i], "wrong data put", which);
        }
    }
    MPI_Win_free(&win);
}

/* --- threads --------------------------------------------------------------------------------------------------- */

enum { thread_count = 3 };

static MPI_Comm roots[thread_count];

/* Each of them begins with another collective. */
static void calls_of_thread(MPI_Comm comm, int thread, int round) {
    const struct place here = place_on(comm);
    for (int time = 0; time < collective_count; ++time) {
        call_checked(comm, (time * (thread + 1) + round) % collective_count, 1 + time % 4 * 400, time % here.size,
                     time + round);
    }
}

static void* work(void* argument) {
    const int thread = (int)(long)argument;
    for (int round = 0; round < 3; ++round) {
        MPI_Comm whole, part;
        MPI_Comm_dup(roots[thread], &whole);
        calls_of_thread(whole, thread, round);
        MPI_Comm_split(whole, (world_rank + thread) % 2, -world_rank, &part);
        calls_of_thread(part, thread, round);
        MPI_Comm_free(&part);
        calls_of_thread(roots[thread], thread, round);
        MPI_Comm_free(&whole);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[thread_count];
    for (int i = 0; i < thread_count; ++i) { /* the first of all ranks, the others of all but one */
        MPI_Comm_split(MPI_COMM_WORLD, i > 0 && world_rank == 0, world_rank, &roots[i]);
    }
    for (long i = 0; i < thread_count; ++i) {
        pthread_create(&all[i], NULL, work, (void*)i);
    }
    for (int i = 0; i < thread_count; ++i) {
        pthread_join(all[i], NULL);
        MPI_Comm_free(&roots[i]);
    }
}

/* --- communicators ----------------------------------------------------------------------------------------------- */

static void between_groups(void) {
    MPI_Comm half, inter;
    const int side = world_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter);
    int others, sum = 0, all[64], right = 0;
    MPI_Comm_remote_size(inter, &others);
    for (int time = 0; time < 3; ++time) {
        MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, inter);
        MPI_Allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, inter);
        right = 0;
        for (int i = 0; i < others; ++i) {
            expect(all[i] == 2 * i + 1 - side, "wrong data from the other group", i);
            right += all[i];
        }
        expect(sum == right, "wrong sum of the other group", sum);
        int value = side == 0 ? -5 : 40 + world_rank;
        int root = side == 0 ? 0 : world_rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
        MPI_Bcast(&value, 1, MPI_INT, root, inter);
        expect(side == 1 || value == 41, "wrong broadcast from the other group", value);
        MPI_Barrier(inter);
        each_checked(half, time);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void with_topologies(void) {
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 1, &ring);
    int rank, neighbours[2];
    MPI_Comm_rank(ring, &rank);
    for (int time = 0; time < 3; ++time) {
        each_checked(ring, time);
        MPI_Neighbor_allgather(&rank, 1, MPI_INT, neighbours, 1, MPI_INT, ring);
        expect(neighbours[0] == (rank + world_size - 1) % world_size, "wrong neighbour", neighbours[0]);
        expect(neighbours[1] == (rank + 1) % world_size, "wrong neighbour", neighbours[1]);
    }
    MPI_Comm_free(&ring);
}

static void communicators(void) {
    for (int time = 0; time < 3; ++time) {
        each_checked(MPI_COMM_SELF, time);
    }
    between_groups();
    with_topologies();
}

/* --- nonblocking -------------------------------------------------------------------------------------------------- */

static void nonblocking(void) {
    for (int which = 0; which < collective_count; ++which) {
        int sum = -1, value = world_rank == 1 ? which : -1, late = world_rank, latest = -1;
        MPI_Request requests[3];
        MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        call_checked(MPI_COMM_WORLD, which, 500, which % world_size, which);
        MPI_Ibcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Iscan(&late, &latest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[2]);
        call_checked(MPI_COMM_WORLD, (which + 3) % collective_count, 3, 0, which);
        if (which % 2) {
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        }
        call_checked(MPI_COMM_WORLD, (which + 7) % collective_count, 5000, 1, which);
        for (int request = 0; request < 3; ++request) {
            MPI_Wait(&requests[request], MPI_STATUS_IGNORE);
        }
        expect(sum == world_size * (world_size - 1) / 2 && value == which && latest == world_rank,
               "wrong result of a nonblocking collective", which);
    }
}

/* --- counts ------------------------------------------------------------------------------------------------------ */

enum { stride = 90 };

static int drawn_length(int from, int to, int call) { return (from * 31 + to * 17 + call * 7) % 43 * (call % 3); }

/* More exchanges of different lengths than anybody would remember. */
static void ever_other_counts(void) {
    static int out[most_ranks * stride], in[most_ranks * stride];
    int sent[most_ranks], received[most_ranks], places[most_ranks];
    for (int call = 0; call < 1500; ++call) {
        for (int rank = 0; rank < world_size; ++rank) {
            places[rank] = (world_size - 1 - rank) * stride;
            sent[rank] = drawn_length(world_rank, rank, call);
            received[rank] = drawn_length(rank, world_rank, call);
        }
        for (int i = 0; i < world_size * stride; ++i) {
            out[i] = call + world_rank * 1000 + i;
            in[i] = -1;
        }
        MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD);
        for (int rank = 0; rank < world_size; ++rank) {
            for (int i = 0; i < stride; ++i) {
                const int right = call + rank * 1000 + places[world_rank] + i;
                expect(in[places[rank] + i] == (i < received[rank] ? right : -1), "wrong data of changing counts",
                       call);
            }
        }
    }
}

/* All ranks get the same ints of the root's. */
static void overlapping_blocks(void) {
    int given[3] = {7, 8, 9}, got[3] = {0, 0, 0}, counts[most_ranks], places[most_ranks] = {0};
    for (int root = 0; root < world_size; ++root) {
        for (int rank = 0; rank < world_size; ++rank) {
            counts[rank] = rank % 3 + 1;
        }
        MPI_Scatterv(given, counts, places, MPI_INT, got, counts[world_rank], MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < 3; ++i) {
            expect(got[i] == (i < counts[world_rank] ? given[i] : 0), "wrong overlapping data", root);
        }
        given[0] += 10;
    }
}

/* Where a rank has no part it has no buffer either. */
static void buffers_that_are_nowhere(void) {
    const int last = world_size - 1, here = world_rank == last;
    int counts[most_ranks] = {0}, places[most_ranks] = {0}, mine[2] = {world_rank, 5}, got[2] = {-1, -1};
    counts[last] = 2;
    MPI_Allgatherv(here ? mine : NULL, counts[world_rank], MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
    expect(got[0] == last && got[1] == 5, "wrong data of the only block", got[0]);
    int sums[2] = {-1, -1};
    MPI_Reduce_scatter(mine, here ? sums : NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(!here || (sums[0] == world_size * last / 2 && sums[1] == 5 * world_size), "wrong sum", sums[0]);
    const int none[most_ranks] = {0}; /* arrays that are one are refused by MPICH */
    MPI_Alltoallv(NULL, none, none, MPI_INT, NULL, places, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Gatherv(here ? mine : NULL, counts[world_rank], MPI_INT, world_rank == 0 ? got : NULL, counts, places,
                MPI_INT, 0, MPI_COMM_WORLD);
    expect(got[0] == last && got[1] == 5, "wrong data gathered of one", got[0]);
}

/* Each block is a type of absolute addresses; every other one is empty. */
static void absolute_addresses(void) {
    static int out[most_ranks], in[most_ranks];
    MPI_Datatype sent[most_ranks], received[most_ranks];
    int counts[most_ranks], places[most_ranks] = {0};
    const int one = 1;
    for (int rank = 0; rank < world_size; ++rank) {
        MPI_Aint from, to;
        MPI_Get_address(&out[rank], &from);
        MPI_Get_address(&in[rank], &to);
        MPI_Type_create_hindexed(1, &one, &from, MPI_INT, &sent[rank]);
        MPI_Type_create_hindexed(1, &one, &to, MPI_INT, &received[rank]);
        MPI_Type_commit(&sent[rank]);
        MPI_Type_commit(&received[rank]);
        counts[rank] = (rank + world_rank) % 2;
        out[rank] = world_rank * 100 + rank;
        in[rank] = -1;
    }
    MPI_Alltoallw(MPI_BOTTOM, counts, places, sent, MPI_BOTTOM, counts, places, received, MPI_COMM_WORLD);
    for (int rank = 0; rank < world_size; ++rank) {
        expect(in[rank] == (counts[rank] ? rank * 100 + world_rank : -1), "wrong data at an address", rank);
        MPI_Type_free(&sent[rank]);
        MPI_Type_free(&received[rank]);
    }
}

/* Who receives says how much room it has, which MPI forbids and MPI libraries take; and ranks without data say so in
 * their own way. What goes wrong with the count of calls on one rank shows in the sums. */
static void room_instead_of_lengths(void) {
    enum { room = 8 };
    int given[most_ranks * room], got[most_ranks * room], lengths[most_ranks], rooms[most_ranks], places[most_ranks];
    for (int rank = 0; rank < world_size; ++rank) {
        lengths[rank] = 1 + rank % room;
        rooms[rank] = room;
        places[rank] = rank * room;
    }
    for (int i = 0; i < world_size * room; ++i) {
        given[i] = 7 * i;
    }
    for (int time = 0; time < 100; ++time) {
        const int root = time % world_size;
        int sum = 0;
        got[0] = -1;
        MPI_Scatterv(given, lengths, places, MPI_INT, got, room, MPI_INT, root, MPI_COMM_WORLD);
        expect(got[0] == 7 * room * world_rank, "wrong data scattered into room for more", got[0]);
        MPI_Allreduce(&time, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world_size * time, "wrong sum", sum);
        MPI_Gatherv(given, lengths[world_rank], MPI_INT, got, rooms, places, MPI_INT, root, MPI_COMM_WORLD);
        for (int rank = 0; rank < world_size && world_rank == root; ++rank) {
            expect(got[places[rank]] == 0, "wrong data gathered into room for more", rank);
        }
#if !defined(OPEN_MPI)
        MPI_Datatype types[most_ranks];
        const int none[most_ranks] = {0};
        for (int rank = 0; rank < world_size; ++rank) {
            types[rank] = world_rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
        }
        MPI_Alltoallw(given, none, none, types, got, none, none, types, MPI_COMM_WORLD);
        MPI_Alltoallv(given, lengths, places, MPI_INT, got, rooms, places, MPI_INT, MPI_COMM_WORLD);
#else
        const int none[most_ranks] = {0}; /* at addresses of which one is MPI_IN_PLACE */
        for (int rank = 0; rank < world_size; ++rank) {
            places[rank] = rank;
        }
        int alone = time; /* a single element may have one buffer for both */
        MPI_Allreduce(world_rank == 0 ? &alone : &time, world_rank == 0 ? &alone : &sum, 1, MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
        expect((world_rank == 0 ? alone : sum) == world_size * time, "wrong sum in place", alone);
        const int is_last = world_rank == world_size - 1;
        MPI_Alltoallv(is_last ? NULL : given, none, places, MPI_CHAR, is_last ? NULL : got, none, places, MPI_CHAR,
                      MPI_COMM_WORLD);
        for (int rank = 0; rank < world_size; ++rank) {
            places[rank] = rank * room;
        }
#endif
        MPI_Allreduce(&time, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world_size * time, "wrong sum", sum);
    }
}

static void counts_for_ranks(void) {
    room_instead_of_lengths();
    for (int time = 0; time < 3; ++time) {
        overlapping_blocks();
        buffers_that_are_nowhere();
        absolute_addresses();
    }
    ever_other_counts();
}

int main(int argc, char** argv) {
    static const struct use uses[] = {{"messages", messages},
                                      {"threads", threads},
                                      {"communicators", communicators},
                                      {"nonblocking", nonblocking},
                                      {"counts", counts_for_ranks},
                                      {NULL, NULL}};
    int provided;
    end_within(60);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    know_the_world();
    const struct use* const asked = use_named(argc, argv, uses);
    if (asked->run == threads && provided < MPI_THREAD_MULTIPLE) {
        end("skipped: this MPI has no threads");
        return 0;
    }
    asked->run();
    each_checked(MPI_COMM_WORLD, 1);
    end("");
    return 0;
}
