/* An MPI program that broadcasts from its first moment on: it calls nothing but MPI and the clock, and is
 * the same binary whether mutirao is preloaded or not. Clocks are compared when all is over.
 *
 * With --every-ms the root broadcasts at that pace from when its MPI_Init returns, and nothing else is
 * sent. Without it a broadcast, also the first, begins when the one before is complete everywhere and
 * all ranks are ready. A call's completion is the time from the root's entry until the last rank has
 * left. With --count 0 there is nothing between MPI_Init and MPI_Finalize.
 *
 * The root prints one JSON line: begins are counted from when its MPI_Init returned; the whole program
 * is MPI_Init, the broadcasts until the last rank has left the last, and MPI_Finalize. */
#include "measuring.h"

const char program_name[] = "start";
const char program_usage[] = "[--bytes N] [--root R] [--count N] [--every-ms N]";

struct options {
    int length;
    int root;
    int count;
    int every_ms; /* 0: as soon as all are ready */
};

/* Of this rank, on the common clock once that is known; ends at the root: the latest of all ranks. */
struct times {
    double init_ms;
    double initialised_ms; /* when MPI_Init returned */
    double* begin_ms;
    double* end_ms;
    double* other_ms; /* another rank's ends, to gather */
};

static struct options parse(int argc, char** argv) {
    struct options options = {.length = 24, .count = 3};
    for (int i = 1; i < argc; i += 2) {
        const char* const name = argv[i];
        const char* const value = value_behind(argv + i);
        if (strcmp(name, "--bytes") == 0) {
            options.length = parse_one(value, 0, INT32_MAX);
        } else if (strcmp(name, "--root") == 0) {
            options.root = parse_one(value, 0, size - 1);
        } else if (strcmp(name, "--count") == 0) {
            options.count = parse_one(value, 0, 1000000);
        } else if (strcmp(name, "--every-ms") == 0) {
            options.every_ms = parse_one(value, 0, 3600000);
        } else {
            fail("unknown option", name);
        }
    }
    return options;
}

static void wait_for_turn(const struct options* options, const struct times* times, int call) {
    if (options->every_ms == 0) {
        latest_at(options->root, 0);
        if (rank == options->root) {
            pause_ms(2); /* those who have just said that they are ready have yet to enter */
        }
    } else if (rank == options->root) {
        const double early_ms =
            times->initialised_ms + (double)call * options->every_ms - now_ms();
        if (early_ms > 0) {
            pause_ms(early_ms);
        }
    }
}

static void broadcast_all(const struct options* options, unsigned char* data,
                          unsigned char* expected, struct times* times) {
    for (int call = 0; call < options->count; ++call) {
        fill(expected, options->length, (unsigned)call);
        if (rank == options->root) {
            memcpy(data, expected, (size_t)options->length);
        } else {
            memset(data, 0, (size_t)options->length);
        }
        wait_for_turn(options, times, call);
        times->begin_ms[call] = now_ms();
        MPI_Bcast(data, options->length, MPI_BYTE, options->root, MPI_COMM_WORLD);
        times->end_ms[call] = now_ms();
        check_bytes(data, expected, (size_t)options->length, options->root);
    }
}

static void gather_ends(const struct options* options, struct times* times) {
    agree_on_clock();
    for (int call = 0; call < options->count; ++call) {
        times->begin_ms[call] -= clock_offset_ms;
        times->end_ms[call] -= clock_offset_ms;
    }
    times->initialised_ms -= clock_offset_ms;
    if (rank != options->root) {
        MPI_Send(times->end_ms, options->count, MPI_DOUBLE, options->root, result_tag,
                 MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; ++i) {
        MPI_Recv(times->other_ms, options->count, MPI_DOUBLE, MPI_ANY_SOURCE, result_tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int call = 0; call < options->count; ++call) {
            const double theirs = times->other_ms[call];
            times->end_ms[call] = theirs > times->end_ms[call] ? theirs : times->end_ms[call];
        }
    }
}

static void print_list(const char* key, const double* values, const double* minus, double start,
                       int count) {
    printf(",\"%s\":[", key);
    for (int i = 0; i < count; ++i) {
        printf("%s%.3f", i == 0 ? "" : ",", values[i] - (minus == NULL ? start : minus[i]));
    }
    printf("]");
}

static void print_times(const struct options* options, const struct times* times,
                        double finalize_ms) {
    const double broadcasts_ms =
        options->count == 0 ? 0 : times->end_ms[options->count - 1] - times->initialised_ms;
    printf("{\"bytes\":%d,\"root\":%d,\"every_ms\":%d,\"init_ms\":%.3f,\"finalize_ms\":%.3f,"
           "\"whole_ms\":%.3f", options->length, options->root, options->every_ms,
           times->init_ms, finalize_ms, times->init_ms + broadcasts_ms + finalize_ms);
    print_list("begin_ms", times->begin_ms, NULL, times->initialised_ms, options->count);
    print_list("completion_ms", times->end_ms, times->begin_ms, 0, options->count);
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char** argv) {
    struct times times = {0};
    const double start = now_ms();
    MPI_Init(&argc, &argv);
    times.initialised_ms = now_ms();
    times.init_ms = times.initialised_ms - start;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct options options = parse(argc, argv);
    unsigned char* const data = malloc((size_t)options.length + 1);
    unsigned char* const expected = malloc((size_t)options.length + 1);
    double* const lists = calloc(3 * (size_t)options.count + 1, sizeof *lists);
    if (data == NULL || expected == NULL || lists == NULL) {
        out_of_memory(options.length);
    }
    times.begin_ms = lists;
    times.end_ms = lists + options.count;
    times.other_ms = lists + 2 * options.count;
    if (options.count > 0) {
        broadcast_all(&options, data, expected, &times);
        gather_ends(&options, &times);
        /* MPICH over TCP may drop what a rank sent just before it ends. */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const double finalize = now_ms();
    MPI_Finalize();
    if (rank == options.root) {
        print_times(&options, &times, now_ms() - finalize);
    }
    free(data);
    free(expected);
    free(lists);
    return 0;
}
