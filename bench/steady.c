/* An MPI program that goes on broadcasting while the network changes: it calls nothing but MPI and the
 * clock, and is the same binary whether mutirao is preloaded or not.
 *
 * With --every-ms the root broadcasts at that pace, whatever becomes of its calls, as a program that
 * computes in between; nothing else is sent. Without it a broadcast begins when the one before is
 * complete everywhere and all ranks are ready. A call's completion is the time from the root's entry
 * until the last rank has left. --ahead broadcasts go ahead of the counted ones, at least one: in it a
 * library sets up what it sets up once.
 *
 * The root prints JSON lines: {"began_ms":...} on the common clock when the first counted call is
 * due; {"stopped":K} when everyone has stopped before call K (--stop-before, counted from 1), to go
 * on as soon as there is a file PREFIX.K (--go PREFIX); at the end everything that was measured. */
#include <unistd.h>

#include "measuring.h"

const char program_name[] = "steady";
const char program_usage[] = "[--bytes N] [--root R] [--count N] [--ahead N]"
                             " [--every-ms N] [--stop-before K,... --go PREFIX]";

enum { go_tag = 4, begin_tag };

struct options {
    int length;
    int root;
    int count;
    int ahead;
    int every_ms; /* 0: as soon as all are ready */
    int stops[most_values];
    int stop_count;
    const char* go;
};

struct times {
    double first_ms;
    double* begin_ms; /* one for each counted call; this rank's */
    double* end_ms;   /* this rank's; at the root, in the end, the latest of all ranks */
    double* other_ms; /* of another rank, to gather */
    double stopped_ms;
};

static struct options parse(int argc, char** argv) {
    struct options options = {.length = 24, .count = 20, .ahead = 1};
    for (int i = 1; i < argc; i += 2) {
        const char* const value = value_behind(argv + i);
        if (strcmp(argv[i], "--bytes") == 0) {
            options.length = parse_one(value, 0, INT32_MAX);
        } else if (strcmp(argv[i], "--root") == 0) {
            options.root = parse_one(value, 0, size - 1);
        } else if (strcmp(argv[i], "--count") == 0) {
            options.count = parse_one(value, 1, 1000000);
        } else if (strcmp(argv[i], "--ahead") == 0) {
            options.ahead = parse_one(value, 1, 1000000);
        } else if (strcmp(argv[i], "--every-ms") == 0) {
            options.every_ms = parse_one(value, 0, 3600000);
        } else if (strcmp(argv[i], "--stop-before") == 0) {
            options.stop_count = parse_list(value, 1, 1000000, options.stops);
        } else if (strcmp(argv[i], "--go") == 0) {
            options.go = value;
        } else {
            fail("unknown option", argv[i]);
        }
    }
    if (options.stop_count > 0 && options.go == NULL) {
        fail("no --go", "for --stop-before");
    } else if (options.stop_count > 0 && options.every_ms > 0) {
        fail("a steady pace is not stopped, so no", "--stop-before");
    }
    return options;
}

static int stops_before(const struct options* options, int call) {
    for (int i = 0; i < options->stop_count; ++i) {
        if (options->stops[i] == call) {
            return 1;
        }
    }
    return 0;
}

static void wait_for_file(const char* prefix, int number) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", prefix, number);
    while (access(path, F_OK) != 0) {
        pause_ms(1);
    }
}

/* Nobody is in a broadcast until the root has seen the file and told everyone, so that whatever a
 * library does within the call finds the network as it is then. Returns how long that took. */
static double stop(const struct options* options, int call) {
    const double begin = now_ms();
    if (rank != options->root) {
        MPI_Recv(NULL, 0, MPI_BYTE, options->root, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        printf("{\"stopped\":%d}\n", call);
        fflush(stdout);
        wait_for_file(options->go, call);
        for (int peer = 0; peer < size; ++peer) {
            if (peer != rank) {
                MPI_Send(NULL, 0, MPI_BYTE, peer, go_tag, MPI_COMM_WORLD);
            }
        }
    }
    latest_at(options->root, 0);
    return now_ms() - begin;
}

static void broadcast(const struct options* options, unsigned char* data, unsigned char* expected,
                      int call, double* begin_ms, double* end_ms) {
    fill(expected, options->length, (unsigned)call);
    if (rank == options->root) {
        memcpy(data, expected, (size_t)options->length);
    } else {
        memset(data, 0, (size_t)options->length);
    }
    *begin_ms = now_ms();
    MPI_Bcast(data, options->length, MPI_BYTE, options->root, MPI_COMM_WORLD);
    *end_ms = now_ms();
    check_bytes(data, expected, (size_t)options->length, options->root);
}

static void say_when_it_began(const struct options* options, double begin_ms) {
    if (rank == options->root) {
        printf("{\"began_ms\":%.3f}\n", begin_ms);
        fflush(stdout);
    }
}

/* The calls that are not counted, each complete everywhere before the next. */
static void go_ahead(const struct options* options, unsigned char* data, unsigned char* expected,
                     struct times* times) {
    double begin, end = 0;
    for (int i = 0; i < options->ahead; ++i) {
        latest_at(options->root, 0);
        broadcast(options, data, expected, i, &begin, &end);
        const double latest = latest_at(options->root, end);
        if (i == 0) {
            times->first_ms = latest - begin;
        }
    }
}

static void one_after_the_other(const struct options* options, unsigned char* data,
                                unsigned char* expected, struct times* times) {
    double end = 0;
    say_when_it_began(options, now_ms());
    for (int call = 1; call <= options->count; ++call) {
        const double latest = latest_at(options->root, end);
        if (call > 1) {
            times->end_ms[call - 2] = latest;
        }
        if (stops_before(options, call)) {
            times->stopped_ms += stop(options, call);
        }
        if (rank == options->root) {
            pause_ms(2); /* those who have just said that they are ready have yet to enter */
        }
        broadcast(options, data, expected, call, &times->begin_ms[call - 1], &end);
    }
    times->end_ms[options->count - 1] = latest_at(options->root, end);
}

/* Each rank's end of each call goes to the root when all is over, so that measuring sends nothing. */
static void gather_ends(int root, double* end_ms, double* theirs, int count) {
    if (rank != root) {
        MPI_Send(end_ms, count, MPI_DOUBLE, root, result_tag, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; ++i) {
        MPI_Recv(theirs, count, MPI_DOUBLE, MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        for (int call = 0; call < count; ++call) {
            end_ms[call] = theirs[call] > end_ms[call] ? theirs[call] : end_ms[call];
        }
    }
}

/* Rank 0 writes the library's report: what that says of a call began when rank 0 entered it. */
static void bring_begins_of_rank_0(int root, struct times* times, int count) {
    if (root == 0) {
        times->other_ms = times->begin_ms;
    } else if (rank == 0) {
        MPI_Send(times->begin_ms, count, MPI_DOUBLE, root, begin_tag, MPI_COMM_WORLD);
    } else if (rank == root) {
        MPI_Recv(times->other_ms, count, MPI_DOUBLE, 0, begin_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

static void at_a_pace(const struct options* options, unsigned char* data, unsigned char* expected,
                      struct times* times) {
    const double began = now_ms() + options->every_ms;
    say_when_it_began(options, began);
    for (int call = 1; call <= options->count; ++call) {
        const double early_ms = began + (double)(call - 1) * options->every_ms - now_ms();
        if (rank == options->root && early_ms > 0) {
            pause_ms(early_ms);
        }
        broadcast(options, data, expected, call, &times->begin_ms[call - 1],
                  &times->end_ms[call - 1]);
    }
}

static void print_list(const char* key, const double* values, const double* minus, int count) {
    printf(",\"%s\":[", key);
    for (int i = 0; i < count; ++i) {
        printf("%s%.3f", i == 0 ? "" : ",", values[i] - (minus == NULL ? 0 : minus[i]));
    }
    printf("]");
}

static void print_times(const struct options* options, const struct times* times, double whole_ms) {
    if (rank == options->root) {
        printf("{\"bytes\":%d,\"root\":%d,\"every_ms\":%d,\"whole_ms\":%.3f,\"stopped_ms\":%.3f,"
               "\"first_ms\":%.3f", options->length, options->root, options->every_ms, whole_ms,
               times->stopped_ms, times->first_ms);
        print_list("begin_ms", times->begin_ms, NULL, options->count);
        print_list("rank_0_begin_ms", times->other_ms, NULL, options->count);
        print_list("completion_ms", times->end_ms, times->begin_ms, options->count);
        printf("}\n");
        fflush(stdout);
    }
}

int main(int argc, char** argv) {
    const double start = now_ms();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct options options = parse(argc, argv);
    agree_on_clock();
    unsigned char* const data = malloc((size_t)options.length + 1);
    unsigned char* const expected = malloc((size_t)options.length + 1);
    double* const lists = calloc(3 * (size_t)options.count, sizeof *lists);
    if (data == NULL || expected == NULL || lists == NULL) {
        out_of_memory(options.length);
    }
    struct times times = {.begin_ms = lists,
                          .end_ms = lists + options.count,
                          .other_ms = lists + 2 * options.count};
    go_ahead(&options, data, expected, &times);
    if (options.every_ms > 0) {
        at_a_pace(&options, data, expected, &times);
    } else {
        one_after_the_other(&options, data, expected, &times);
    }
    const double whole_ms = now_ms() + clock_offset_ms - start;
    if (options.every_ms > 0) {
        gather_ends(options.root, times.end_ms, times.other_ms, options.count);
    }
    bring_begins_of_rank_0(options.root, &times, options.count);
    print_times(&options, &times, whole_ms);
    free(data);
    free(expected);
    free(lists);
    /* MPICH over TCP may drop what a rank sent just before it ends. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
