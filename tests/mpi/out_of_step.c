/* out_of_step WHAT [FILE]: ranks that run ahead of each other, come late, or are outside MPI, while others wait. */
#include "checked.h"

static void wait_for(const char* path) {
    for (int tries = 0; access(path, F_OK) != 0; ++tries) {
        expect(tries < 2400, "nobody made a file", tries);
        usleep(10000);
    }
}

/* The root of 300 short broadcasts is through long before a rank that comes late to the first of them. */
static void root_ahead(void) {
    enum { calls = 300, late_us = 2000000 };
    int data = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == world_size - 1) {
        usleep(late_us);
    }
    const double begun_s = MPI_Wtime();
    for (int call = 0; call < calls; ++call) {
        data = world_rank == 0 ? call : -1;
        MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        expect(data == call, "wrong data", call);
    }
    expect(world_rank != 0 || MPI_Wtime() - begun_s < late_us / 2e6, "the root waited", calls);
    broadcasts_checked(MPI_COMM_WORLD, 4);
}

/* A root broadcasts 2000 times and then, outside MPI, waits for files that the others write when they have all the
 * data. What it has sent must arrive without its help. */
static void fast_root(void) {
    enum { calls = 2000, length = 2000 };
    static int data[length];
    char path[512];
    for (int call = 0; call < calls; ++call) {
        if (call == calls / 2 && world_rank != 0) {
            usleep(300000); /* the root runs ahead as far as it can */
        }
        data[0] = world_rank == 0 ? call : -1;
        data[length - 1] = world_rank == 0 ? ~call : -1;
        MPI_Bcast(data, length, MPI_INT, 0, MPI_COMM_WORLD);
        expect(data[0] == call && data[length - 1] == ~call, "wrong data", call);
    }
    for (int rank = 1; rank < world_size; ++rank) {
        snprintf(path, sizeof path, "%s.%d", use_word, rank);
        if (world_rank == rank) {
            FILE* const file = fopen(path, "w");
            expect(file != NULL, "cannot write a file", rank);
            fclose(file);
        } else if (world_rank == 0) {
            wait_for(path);
        }
    }
    broadcasts_checked(MPI_COMM_WORLD, 4);
}

static double calls_ms(int calls, int seed) {
    const double begun = MPI_Wtime();
    for (int call = 0; call < calls; ++call) {
        broadcast_checked(MPI_COMM_WORLD, 1, 2, seed + call);
    }
    return (MPI_Wtime() - begun) * 1000;
}

/* Rank 0 comes late by a second, and once a hundred calls behind, while MPI lets the root of the broadcasts run ahead.
 * Prints how long the root's calls took meanwhile, in milliseconds. */
static void late_rank(void) {
    double took_ms[2];
    for (int call = 0; call < 100; ++call) { /* until what is to be decided is decided */
        broadcast_checked(MPI_COMM_WORLD, 1, 2, call);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int time = 0; time < 2; ++time) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0) {
            sleep(1);
        }
        took_ms[time] = calls_ms(time == 0 ? 1 : 100, time * 1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Bcast(took_ms, 2, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    snprintf(said, sizeof said, "%.1f %.1f", took_ms[0], took_ms[1]);
}

static void barriers(const char* name, unsigned late_us) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    for (int call = 0; call < 5; ++call) { /* the last two are clocked, and told */
        if (call == 4 && world_rank == 0) {
            usleep(late_us);
        }
        MPI_Barrier(comm);
    }
    usleep(100000);
    for (int call = 0; late_us == 0 && call < 2; ++call) { /* in which rank 0 looks */
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
}

/* Two communicators of all ranks, one after the other, that end before anybody looks at what rank 1 took for the last
 * calls; on the first one it had to wait. */
static void late_reports(void) {
    for (int i = 0; i < 100; ++i) { /* until the ranks know each other */
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(5000);
    }
    barriers("waited", 200000);
    for (int i = 0; i < 100; ++i) { /* until it is forgotten */
        broadcasts_checked(MPI_COMM_WORLD, 8);
        usleep(5000);
    }
    barriers("did not wait", 0);
}

/* What was there is overwritten. */
static void use_freed_memory(void) {
    for (size_t bytes = 16; bytes <= 4096; bytes += 16) {
        for (int i = 0; i < 20; ++i) {
            void* const block = malloc(bytes);
            expect(block != NULL, "out of memory", i);
            memset(block, 0xa5, bytes);
        }
    }
}

/* Rank 0 broadcasts on a duplicate and frees it at once, while the others come later: what the library has under way on
 * it outlives it there. */
static void freed_while_others_lag(void) {
    for (int round = 0; round < 3; ++round) {
        MPI_Comm duplicate;
        int number = world_rank;
        MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
        if (world_rank > 0) {
            usleep(200000);
        }
        for (int i = 0; i < 2; ++i) {
            MPI_Bcast(&number, 1, MPI_INT, 0, duplicate);
        }
        MPI_Comm_free(&duplicate);
        use_freed_memory();
        expect(number == 0, "another number", number);
        for (int i = 0; i < 100; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* Some barriers, then rank 0 is outside MPI until the file is there. */
static void waits_for_file(void) {
    for (int call = 0; call < 100; ++call) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (world_rank == 0) {
        wait_for(use_word);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Collective writes to a file while broadcasts go on. MPI libraries broadcast inside their MPI_File functions; those are
 * not the program's 40 calls. */
static void file_writes(void) {
    MPI_File file;
    enum { each = 64 };
    int out[each], in[each];
    broadcasts_checked(MPI_COMM_WORLD, 20);
    const int opened = MPI_File_open(MPI_COMM_WORLD, use_word, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                     MPI_INFO_NULL, &file);
    expect(opened == MPI_SUCCESS, "cannot open the file", opened);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int call = 0; call < 20; ++call) {
        const MPI_Offset place = (MPI_Offset)(call * world_size + world_rank) * each;
        for (int i = 0; i < each; ++i) {
            out[i] = value_at(i, world_rank, call);
        }
        MPI_File_write_at_all(file, place, out, each, MPI_INT, MPI_STATUS_IGNORE);
        broadcast_checked(MPI_COMM_WORLD, call % world_size, 300, call);
        MPI_File_read_at_all(file, place, in, each, MPI_INT, MPI_STATUS_IGNORE);
        expect(memcmp(out, in, sizeof in) == 0, "wrong data in the file", call);
    }
    MPI_File_set_size(file, 100);
    MPI_File_close(&file);
}

/* --- what a program may do at its first moment, by ranks that are not in step ------------------------------------- */

static void nap(int step) { usleep((useconds_t)((world_rank * 7 + step * 13) % 5 * 1500)); }

static void duplicates(void) {
    for (int round = 0; round < 5; ++round) {
        MPI_Comm made;
        nap(round);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        broadcasts_checked(made, 5);
        nap(round + 2);
        MPI_Comm_free(&made);
    }
}

static void nonblocking_duplicates(void) {
    for (int round = 0; round < 5; ++round) {
        MPI_Comm first, second;
        MPI_Request requests[2];
        nap(round);
        MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]);
        broadcasts_checked(MPI_COMM_WORLD, 9);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Comm_idup(first, &second, &requests[1]);
        broadcasts_checked(MPI_COMM_WORLD, 9);
        broadcasts_checked(first, 9); /* its 2nd, 4th and 8th call, while it is being duplicated */
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        broadcasts_checked(second, 5);
        MPI_Comm_free(&first);
        MPI_Comm_free(&second);
    }
}

static void parts(void) {
    for (int round = 0; round < 5; ++round) {
        MPI_Comm part, again, most;
        nap(round);
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
        broadcasts_checked(part, 5);
        MPI_Comm_dup(part, &again);
        MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 0, world_rank, &most);
        if (most != MPI_COMM_NULL) {
            broadcasts_checked(most, 5);
            MPI_Comm_free(&most);
        }
        broadcasts_checked(again, 5);
        MPI_Comm_free(&part);
        MPI_Comm_free(&again);
    }
}

static void nothing(void) {}

static void all_at_once(void) {
    parts();
    duplicates();
    nonblocking_duplicates();
}

int main(int argc, char** argv) {
    static const struct use uses[] = {{"root_ahead", root_ahead},
                                      {"fast_root", fast_root},
                                      {"late_rank", late_rank},
                                      {"late_reports", late_reports},
                                      {"freed_while_others_lag", freed_while_others_lag},
                                      {"waits_for_file", waits_for_file},
                                      {"file_writes", file_writes},
                                      {"nothing", nothing},
                                      {"parts", parts},
                                      {"duplicates", duplicates},
                                      {"nonblocking_duplicates", nonblocking_duplicates},
                                      {"all_at_once", all_at_once},
                                      {NULL, NULL}};
    return run_use(argc, argv, uses);
}
