/* What the measuring programs share: the clock of all ranks, their options, the bytes that they send,
 * and a barrier that costs one way.
 *
 * Where the ranks run on several machines their clocks are compared first by round trips with rank
 * 0; the offset is then uncertain by half the difference of the two directions. On one machine
 * (also in network namespaces) all read the same clock. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_values = 64, clock_tag = 1, ready_tag = 2, result_tag = 3 };

/* Given by each program. */
extern const char program_name[];
extern const char program_usage[];

static int rank, size;
static double clock_offset_ms;
static int one_clock; /* of all ranks, so that their times can be compared exactly */

static inline double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6 - clock_offset_ms;
}

static inline void pause_ms(double duration_ms) {
    const struct timespec time = {(time_t)(duration_ms / 1e3),
                                  (long)((duration_ms - (double)(long)(duration_ms / 1e3) * 1e3) * 1e6)};
    nanosleep(&time, NULL);
}

/* Those who have just said that they are ready have yet to enter. */
static const double pause_before_start_ms = 2;

/* The rest of a wait is spent looking at the clock: sleepers are woken late. */
static inline void wait_until(double time_ms) {
    const double watched_ms = 0.1, sleep_ms = time_ms - now_ms() - watched_ms;
    if (sleep_ms > 0) {
        pause_ms(sleep_ms);
    }
    while (now_ms() < time_ms) {
    }
}

static inline void start_mpi(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Ends every rank alike: all see the same arguments. */
static inline void fail(const char* what, const char* value) {
    if (rank == 0) {
        fprintf(stderr, "%s: %s %s; usage: %s %s\n", program_name, what, value, program_name,
                program_usage);
    }
    MPI_Finalize();
    exit(2);
}

/* What there is, and more; free() gives it back. */
static inline void* more_room(void* room, size_t bytes) {
    void* const more = realloc(room, bytes + 1);
    if (more == NULL) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", program_name, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return more;
}

/* Zeroed. */
static inline void* room_for(size_t bytes) {
    return memset(more_room(NULL, bytes), 0, bytes);
}

static inline int parse_list(const char* text, int least, int most, int* values) {
    int count = 0;
    for (const char* word = text;; ++word) {
        char* end;
        const long value = strtol(word, &end, 10);
        const int ends = *end == ',' || *end == '\0';
        if (!ends || end == word || value < least || value > most || count == most_values) {
            fail("wrong value", text);
        }
        values[count++] = (int)value;
        if (*end == '\0') {
            return count;
        }
        word = end;
    }
}

static inline int parse_one(const char* text, int least, int most) {
    int values[most_values];
    if (parse_list(text, least, most, values) != 1) {
        fail("one value is wanted, not", text);
    }
    return values[0];
}

/* What a word of the command line gives to the value behind it: a text, a list of numbers of which `count` says how
 * many there are, or one number. */
struct option {
    const char* name;
    int least, most;
    int* values;
    int* count;
    const char** text;
};

static inline void take_option(const struct option* option, const char* value) {
    if (option->text != NULL) {
        *option->text = value;
    } else if (option->count != NULL) {
        *option->count = parse_list(value, option->least, option->most, option->values);
    } else {
        *option->values = parse_one(value, option->least, option->most);
    }
}

/* Of argv[from] up to argv[end]. */
static inline void take_options(int from, int end, char** argv, const struct option* options, int option_count) {
    for (int i = from; i < end; i += 2) {
        int found = 0;
        while (found < option_count && strcmp(options[found].name, argv[i]) != 0) {
            ++found;
        }
        if (found == option_count) {
            fail("unknown option", argv[i]);
        }
        if (argv[i + 1] == NULL) {
            fail("no value for", argv[i]);
        }
        take_option(&options[found], argv[i + 1]);
    }
}

/* The same on every rank that shares a kernel, and with it the clock. */
static inline uint64_t kernel_identity(void) {
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

static inline void answer_clock(int peer, int times) {
    for (int i = 0; i < times; ++i) {
        MPI_Recv(NULL, 0, MPI_BYTE, peer, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double time = now_ms();
        MPI_Send(&time, 1, MPI_DOUBLE, peer, clock_tag, MPI_COMM_WORLD);
    }
}

static inline double ask_clock(int peer, int times) {
    double best_round_trip = 1e300, best_offset = 0;
    for (int i = 0; i < times; ++i) {
        double theirs;
        const double begin = now_ms();
        MPI_Send(NULL, 0, MPI_BYTE, peer, clock_tag, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double end = now_ms();
        if (end - begin < best_round_trip) {
            best_round_trip = end - begin;
            best_offset = (begin + end) / 2 - theirs;
        }
    }
    return best_offset;
}

/* The root's value, at every rank: without a collective call, which a library numbers as the program's. */
static inline double told_by(int root, double value, int tag) {
    if (rank != root) {
        MPI_Recv(&value, 1, MPI_DOUBLE, root, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return value;
    }
    for (int peer = 0; peer < size; ++peer) {
        if (peer != root) {
            MPI_Send(&value, 1, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD);
        }
    }
    return value;
}

/* Whether all ranks have this identity. */
static inline int all_have(uint64_t identity) {
    int alike = 1;
    if (rank != 0) {
        MPI_Send(&identity, 1, MPI_UINT64_T, 0, clock_tag, MPI_COMM_WORLD);
    }
    for (int peer = 1; rank == 0 && peer < size; ++peer) {
        uint64_t theirs;
        MPI_Recv(&theirs, 1, MPI_UINT64_T, peer, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        alike = alike && theirs == identity;
    }
    return told_by(0, alike, clock_tag) != 0;
}

/* Of programs whose times are told of one clock. */
static inline void check_clock(void) {
    if (!all_have(kernel_identity())) {
        fail("the ranks'", "clocks differ: run them on hosts that share a kernel");
    }
}

static inline void agree_on_clock(void) {
    one_clock = all_have(kernel_identity());
    if (one_clock) {
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

static inline unsigned char pattern(int index, unsigned seed) {
    return (unsigned char)((unsigned)index * 31u + seed * 17u + ((unsigned)index >> 8));
}

static inline void fill(unsigned char* data, int length, unsigned seed) {
    for (int i = 0; i < length; ++i) {
        data[i] = pattern(i, seed);
    }
}

enum { most_latest = 4 };

/* The latest of all ranks' values, of each of a few, at the root, in the time of the longest way to
 * it. Everyone else has then left this function or is about to: a barrier that costs one way instead
 * of several. */
static inline void all_latest_at(int root, double* values, int count) {
    if (rank != root) {
        MPI_Send(values, count, MPI_DOUBLE, root, ready_tag, MPI_COMM_WORLD);
        return;
    }
    for (int peer = 0; peer < size; ++peer) {
        if (peer == root) {
            continue;
        }
        double theirs[most_latest];
        MPI_Recv(theirs, count, MPI_DOUBLE, peer, ready_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; ++i) {
            values[i] = theirs[i] > values[i] ? theirs[i] : values[i];
        }
    }
}

/* The same of one value; other ranks than the root get their own back. */
static inline double latest_at(int root, double mine) {
    all_latest_at(root, &mine, 1);
    return mine;
}

/* From one rank to another, or the same. */
static inline void hand_over(double* values, int count, int from, int to, int tag) {
    if (rank == from && from != to) {
        MPI_Send(values, count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
    } else if (rank == to && from != to) {
        MPI_Recv(values, count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Every so many of `count`, as a JSON list. */
static inline void print_numbers(const double* values, int count, int every) {
    for (int i = 0; i < count; i += every) {
        printf("%s%.6f", i == 0 ? "[" : ",", values[i]);
    }
    printf("%s]", count > 0 ? "" : "[");
}

/* Stops the job where what arrived is not what was sent. */
static inline void check_bytes(const unsigned char* data, const unsigned char* expected, size_t length,
                        int root) {
    if (memcmp(data, expected, length) != 0) {
        fprintf(stderr, "%s: rank %d received wrong bytes (%zu bytes, root %d)\n", program_name,
                rank, length, root);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
