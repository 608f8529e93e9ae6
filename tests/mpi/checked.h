/* What the programs of unusual uses share: they check every byte themselves, end in time whatever
 * happens, and print "ok ..." from rank 0. */
#pragma once

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int world_rank, world_size;

/* Not MPI_Abort: a program may have no MPI_COMM_WORLD, or be inside the MPI library. */
static inline void fail(const char* what, long detail) {
    fprintf(stderr, "rank %d: %s (%ld)\n", world_rank, what, detail);
    fflush(stderr);
    _exit(1);
}

static inline void expect(int condition, const char* what, long detail) {
    if (!condition) {
        fail(what, detail);
    }
}

static inline void too_late(int signal_number) {
    static const char line[] = "hangs\n";
    (void)signal_number;
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0) {
        _exit(4);
    }
    _exit(3);
}

static inline void end_within(unsigned seconds) {
    signal(SIGALRM, too_late);
    alarm(seconds);
}

static inline void know_the_world(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

static inline void begin(int* argc, char*** argv) {
    end_within(25);
    MPI_Init(argc, argv);
    know_the_world();
}

static inline long resident_kib(void) {
    long pages = 0, resident = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    expect(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2, "no memory is told", 0);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static inline int value_at(int i, int root, int seed) { return i * 7 + root * 1000003 + seed * 31 + 1; }

/* Broadcasts `count` ints from `root` and checks each on every rank. */
static inline void broadcast_checked(MPI_Comm comm, int root, int count, int seed) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int* const data = malloc((size_t)(count + 1) * sizeof *data);
    for (int i = 0; i < count; ++i) {
        data[i] = rank == root ? value_at(i, root, seed) : -1;
    }
    data[count] = -77;
    expect(MPI_Bcast(data, count, MPI_INT, root, comm) == MPI_SUCCESS, "a broadcast failed", seed);
    for (int i = 0; i < count; ++i) {
        expect(data[i] == value_at(i, root, seed), "wrong data in call", seed);
    }
    expect(data[count] == -77, "written beyond the buffer in call", seed);
    free(data);
}

/* From every root in turn, short and long. */
static inline void broadcasts_checked(MPI_Comm comm, int calls) {
    static const int counts[] = {1, 6, 300, 5000};
    int size;
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < calls; ++call) {
        broadcast_checked(comm, call % size, counts[call / 2 % 4], call);
    }
}

/* Unless the program has called MPI_Finalize itself. */
static inline void end(const char* text) {
    int finalized;
    MPI_Finalized(&finalized);
    if (!finalized) {
        MPI_Finalize();
    }
    if (world_rank == 0) {
        printf("ok%s%s\n", text[0] ? " " : "", text);
    }
}

/* A program of several uses: its first word names one, and there may be another word. The last in the list has no name. */
struct use {
    const char* name;
    void (*run)(void);
};

static const char* use_word = "";

static inline const struct use* use_named(int argc, char** argv, const struct use* uses) {
    use_word = argc > 2 ? argv[2] : "";
    while (uses->name != NULL && (argc < 2 || strcmp(argv[1], uses->name) != 0)) {
        ++uses;
    }
    expect(uses->name != NULL, "no such use", argc);
    return uses;
}

/* What rank 0 says of a use after "ok". */
static char said[80];

static inline int run_use(int argc, char** argv, const struct use* uses) {
    begin(&argc, &argv);
    use_named(argc, argv, uses)->run();
    end(said);
    return 0;
}
