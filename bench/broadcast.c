/* An ordinary MPI program that broadcasts and measures: it calls nothing but MPI and the clock, and
 * is the same binary whether mutirao is preloaded or not.
 *
 * For every length and root it repeats: every rank tells the root that it goes into MPI_Bcast, the
 * root then enters, and the completion is the time from there until the last rank has left the last
 * of --consecutive calls. What arrives is compared with what was sent. One JSON line per root,
 * length and number of consecutive calls from rank 0. After --then
 * follow further measurements of the same job, whose options begin as they were before it.
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

enum { most_values = 64, ready_tag = 2, result_tag = 3 };

struct options {
    int lengths[most_values];
    int length_count;
    int roots[most_values];
    int root_count;
    int consecutives[most_values];
    int consecutive_count;
    int repeat;
};

static const struct options defaults = {{24}, 1, {0}, 1, {1}, 1, 5};

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
                        "[--repeat N] [--consecutive N,...] [--then ...]\n", what, value);
    }
    MPI_Finalize();
    exit(2);
}

static void out_of_memory(int length) {
    fprintf(stderr, "broadcast: no memory for %d bytes\n", length);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int parse_list(const char* text, int least, int most, int* values) {
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

static int parse_one(const char* text, int least, int most) {
    int values[most_values];
    if (parse_list(text, least, most, values) != 1) {
        fail("one value is wanted, not", text);
    }
    return values[0];
}

/* Reads options from argv[from] up to --then or the end, and returns where the next ones begin. */
static int parse(int from, int argc, char** argv, struct options* options) {
    int i = from;
    for (; i < argc && strcmp(argv[i], "--then") != 0; i += 2) {
        const char* const value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value == NULL) {
            fail("no value for", argv[i]);
        } else if (strcmp(argv[i], "--bytes") == 0) {
            options->length_count = parse_list(value, 0, INT32_MAX, options->lengths);
        } else if (strcmp(argv[i], "--roots") == 0) {
            options->root_count = parse_list(value, 0, size - 1, options->roots);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            options->repeat = parse_one(value, 1, 1000000);
        } else if (strcmp(argv[i], "--consecutive") == 0) {
            options->consecutive_count = parse_list(value, 1, 1000000, options->consecutives);
        } else {
            fail("unknown option", argv[i]);
        }
    }
    return i + 1;
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

/* The latest of all ranks' values, at the root, in the time of the longest way to it. Everyone else
 * has then left this function or is about to: a barrier that costs one way instead of several. */
static double latest_at(int root, double mine) {
    if (rank != root) {
        MPI_Send(&mine, 1, MPI_DOUBLE, root, ready_tag, MPI_COMM_WORLD);
        return mine;
    }
    for (int peer = 0; peer < size; ++peer) {
        if (peer != root) {
            double theirs;
            MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, ready_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mine = theirs > mine ? theirs : mine;
        }
    }
    return mine;
}

struct message {
    unsigned char* data;
    unsigned char* expected;
    int length;
    int root;
};

/* `repeat` rounds of `consecutive` broadcasts; the completions are the root's to know. */
static void run_rounds(const struct message* message, int repeat, int consecutive,
                       double* completion_ms) {
    const int root = message->root;
    double begin = 0, end = 0;
    for (int i = 0; i <= repeat; ++i) {
        fill(message->expected, message->length, (unsigned)(i + consecutive));
        memset(message->data, 0, (size_t)message->length);
        if (rank == root) {
            memcpy(message->data, message->expected, (size_t)message->length);
        }
        const double last = latest_at(root, end);
        if (i > 0) {
            completion_ms[i - 1] = last - begin;
        }
        if (i == repeat) {
            return;
        }
        if (rank == root) {
            pause_ms(2); /* those who have just said that they are ready have yet to enter */
        }
        begin = now_ms();
        for (int call = 0; call < consecutive; ++call) {
            MPI_Bcast(message->data, message->length, MPI_BYTE, root, MPI_COMM_WORLD);
        }
        end = now_ms();
        if (memcmp(message->data, message->expected, (size_t)message->length) != 0) {
            fprintf(stderr, "broadcast: rank %d received wrong bytes (%d bytes from root %d)\n",
                    rank, message->length, root);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static void to_rank_0(int root, double* values, int count) {
    if (root == 0) {
        return;
    }
    if (rank == root) {
        MPI_Send(values, count, MPI_DOUBLE, 0, result_tag, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(values, count, MPI_DOUBLE, root, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void print_line(const struct message* message, int consecutive, double first_ms,
                       const double* completion_ms, int repeat) {
    if (rank != 0) {
        return;
    }
    printf("{\"bytes\":%d,\"root\":%d,\"consecutive\":%d,\"first_ms\":%.3f,\"completion_ms\":[",
           message->length, message->root, consecutive, first_ms);
    for (int i = 0; i < repeat; ++i) {
        printf("%s%.3f", i == 0 ? "" : ",", completion_ms[i]);
    }
    printf("]}\n");
    fflush(stdout);
}

static void measure(const struct options* options, int length, int root) {
    const struct message message = {malloc((size_t)length + 1), malloc((size_t)length + 1), length,
                                    root};
    double* const completion_ms = malloc((size_t)options->repeat * sizeof *completion_ms);
    if (message.data == NULL || message.expected == NULL || completion_ms == NULL) {
        out_of_memory(length);
    }
    double first_ms = 0;
    run_rounds(&message, 1, 1, &first_ms);
    to_rank_0(root, &first_ms, 1);
    for (int c = 0; c < options->consecutive_count; ++c) {
        run_rounds(&message, options->repeat, options->consecutives[c], completion_ms);
        to_rank_0(root, completion_ms, options->repeat);
        print_line(&message, options->consecutives[c], first_ms, completion_ms, options->repeat);
    }
    free(message.data);
    free(message.expected);
    free(completion_ms);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct options options = defaults;
    for (int next = 1; next < argc;) {
        next = parse(next, argc, argv, &options); /* all of it first: no job ends half-way */
    }
    agree_on_clock();
    options = defaults;
    int next = 1;
    do {
        next = parse(next, argc, argv, &options);
        for (int r = 0; r < options.root_count; ++r) {
            for (int l = 0; l < options.length_count; ++l) {
                measure(&options, options.lengths[l], options.roots[r]);
            }
        }
    } while (next < argc);
    MPI_Finalize();
    return 0;
}
