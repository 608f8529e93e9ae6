/* An ordinary MPI program that broadcasts and measures: it calls nothing but MPI and the clock, and
 * is the same binary whether mutirao is preloaded or not.
 *
 * For every length and root it repeats: all ranks wait in MPI_Bcast, the root enters, and the
 * completion is the time from there until the last rank has left the last of --consecutive calls.
 * What arrives is compared with what was sent. One JSON line per length and root from rank 0.
 *
 * Where the ranks run on several machines their clocks are compared first by round trips with rank
 * 0; the offset is then uncertain by half the difference of the two directions. On one machine
 * (also in network namespaces) all read the same clock. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_values = 64 };

struct options {
    int lengths[most_values];
    int length_count;
    int roots[most_values];
    int root_count;
    int repeat;
    int consecutive;
};

static int rank, size;
static double clock_offset_ms;

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6 - clock_offset_ms;
}

static void pause_ms(double duration_ms) {
    const struct timespec time = {(time_t)(duration_ms / 1e3),
                                  (long)((duration_ms - (double)(long)(duration_ms / 1e3) * 1e3) * 1e6)};
    nanosleep(&time, NULL);
}

static void fail(const char* what, const char* value) {
    if (rank == 0) {
        fprintf(stderr, "broadcast: %s %s; usage: broadcast [--bytes N,...] [--roots R,...] "
                        "[--repeat N] [--consecutive N]\n", what, value);
    }
    MPI_Finalize();
    exit(2);
}

static int parse_list(char* text, int least, int most, int* values) {
    int count = 0;
    for (char* word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        char* end = word;
        const long value = strtol(word, &end, 10);
        if (*end != '\0' || end == word || value < least || value > most || count == most_values) {
            fail("wrong value", word);
        }
        values[count++] = (int)value;
    }
    return count;
}

static struct options parse(int argc, char** argv) {
    struct options options = {{24}, 1, {0}, 1, 5, 1};
    for (int i = 1; i < argc; i += 2) {
        char* const value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value == NULL) {
            fail("no value for", argv[i]);
        } else if (strcmp(argv[i], "--bytes") == 0) {
            options.length_count = parse_list(value, 0, INT32_MAX, options.lengths);
        } else if (strcmp(argv[i], "--roots") == 0) {
            options.root_count = parse_list(value, 0, size - 1, options.roots);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            parse_list(value, 1, 1000000, &options.repeat);
        } else if (strcmp(argv[i], "--consecutive") == 0) {
            parse_list(value, 1, 1000000, &options.consecutive);
        } else {
            fail("unknown option", argv[i]);
        }
    }
    return options;
}

/* The same on every rank that shares a kernel, and with it the clock. */
static uint64_t kernel_identity(void) {
    char text[64] = {0};
    uint64_t hash = 14695981039346656037u;
    FILE* const file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(text, sizeof text, file) == NULL) {
            text[0] = '\0';
        }
        fclose(file);
    }
    for (const char* c = text; *c != '\0'; ++c) {
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    }
    return hash;
}

static void answer_clock(int peer, int times) {
    for (int i = 0; i < times; ++i) {
        MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double time = now_ms();
        MPI_Send(&time, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
    }
}

static double ask_clock(int peer, int times) {
    double best_round_trip = 1e300, best_offset = 0;
    for (int i = 0; i < times; ++i) {
        double theirs;
        const double begin = now_ms();
        MPI_Send(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double end = now_ms();
        if (end - begin < best_round_trip) {
            best_round_trip = end - begin;
            best_offset = (begin + end) / 2 - theirs;
        }
    }
    return best_offset;
}

static void agree_on_clock(void) {
    const uint64_t mine = kernel_identity();
    uint64_t least, most;
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (least == most) {
        return;
    }
    for (int peer = 1; peer < size; ++peer) {
        if (rank == 0) {
            answer_clock(peer, 10);
        } else if (rank == peer) {
            clock_offset_ms = ask_clock(0, 10);
        }
    }
}

static void fill(unsigned char* data, int length, unsigned seed) {
    for (int i = 0; i < length; ++i) {
        data[i] = (unsigned char)((unsigned)i * 31u + seed * 17u + ((unsigned)i >> 8));
    }
}

/* Completion of one round as rank 0 learns it; ends the job if wrong bytes arrived. */
static double round_ms(unsigned char* data, unsigned char* expected, int length, int root,
                       int consecutive, double settle_ms, unsigned seed) {
    fill(expected, length, seed);
    memset(data, 0, (size_t)length);
    if (rank == root) {
        memcpy(data, expected, (size_t)length);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == root) {
        pause_ms(settle_ms); /* until all others wait in MPI_Bcast */
    }
    double begin = now_ms(), end, last;
    for (int i = 0; i < consecutive; ++i) {
        MPI_Bcast(data, length, MPI_BYTE, root, MPI_COMM_WORLD);
    }
    end = now_ms();
    const int wrong = memcmp(data, expected, (size_t)length) != 0;
    if (wrong) {
        fprintf(stderr, "broadcast: rank %d received wrong bytes (%d bytes from root %d)\n", rank,
                length, root);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank != root) {
        begin = 0;
    }
    double start;
    MPI_Allreduce(&begin, &start, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return last - start;
}

/* Long enough for every rank to have left a barrier that one of them has left. */
static double barrier_ms(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now_ms();
    MPI_Barrier(MPI_COMM_WORLD);
    const double mine = now_ms() - begin;
    double longest;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static void measure(const struct options* options, int length, int root, double settle_ms) {
    unsigned char* const data = malloc((size_t)length + 1);
    unsigned char* const expected = malloc((size_t)length + 1);
    if (data == NULL || expected == NULL) {
        fprintf(stderr, "broadcast: no memory for %d bytes\n", length);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const double first = round_ms(data, expected, length, root, 1, settle_ms, 0);
    if (rank == 0) {
        printf("{\"bytes\":%d,\"root\":%d,\"consecutive\":%d,\"first_ms\":%.3f,\"completion_ms\":[",
               length, root, options->consecutive, first);
    }
    for (int i = 0; i < options->repeat; ++i) {
        const double took = round_ms(data, expected, length, root, options->consecutive, settle_ms,
                                     (unsigned)i + 1);
        if (rank == 0) {
            printf("%s%.3f", i == 0 ? "" : ",", took);
        }
    }
    if (rank == 0) {
        printf("]}\n");
        fflush(stdout);
    }
    free(data);
    free(expected);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct options options = parse(argc, argv);
    agree_on_clock();
    const double settle_ms = 1 + barrier_ms();
    for (int r = 0; r < options.root_count; ++r) {
        for (int l = 0; l < options.length_count; ++l) {
            measure(&options, options.lengths[l], options.roots[r], settle_ms);
        }
    }
    MPI_Finalize();
    return 0;
}
