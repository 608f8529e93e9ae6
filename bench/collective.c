/* An ordinary MPI program that runs a collective and measures: it calls nothing but MPI and the
 * clock, and is the same binary whether mutirao is preloaded or not.
 *
 * For every length and root it repeats: every rank tells the root (rank 0 where there is none) that
 * it is ready; then the collective is called --consecutive times, and what arrives is compared with
 * what must arrive. The completion is measured until the last rank has left the last call:
 * - where the root alone gives anything: from the root's entry, when all others are already inside;
 * - otherwise all are told a time in the future at which they enter. It is then measured from the
 *   root's entry, or without a root from the last rank's. How far their entries were apart, at most,
 *   is entry_spread_ms: by so much a completion may be too short.
 *
 * Buffers have just been written, so they are in the processor's cache; with --cold 1 each rank writes so
 * much else before it enters that they are not.
 *
 * A library may try several ways before it keeps to one. With --settle-calls and --settle-ms so many calls
 * and so much time go before what is measured, and how long they took is told, too: "settling" is a list of
 * [calls, ms], one call each at first, then as many as take some 5 ms. --consecutive 0 measures as many as
 * take half a millisecond, in which other programs seldom get a turn.
 *
 * With --beside-native 1 measurements take turns with those of the MPI library's own function, past whatever is
 * preloaded: "native_ms". Processes, memory and the machine's moment are then the same for both, as between two
 * jobs they never are.
 *
 * With --pause-ms nothing is sent for so long before each measurement, as TCP takes to forget how much a
 * connection carried; nor before each step in which all settles, as in a program that keeps that pace.
 *
 * With --late-us the last rank comes so much later to each call than it could. That is part of what is measured.
 *
 * With --poll-us a rank that waits before it enters asks MPI so often whether there is a message, as programs do
 * that work on whatever arrives: an MPI library that works only when it is called then works in between, too.
 *
 * One JSON line per root, length and number of consecutive calls from rank 0. After --then follow
 * further measurements of the same job, whose options begin as they were before it.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>

#include "collectives.h"

const char program_name[] = "collective";
const char program_usage[] = "NAME [--bytes N,...] [--roots R,...] [--repeat N]"
                             " [--consecutive N,...] [--settle-calls N] [--settle-ms N]"
                             " [--pause-ms N] [--cold 0|1] [--beside-native 0|1] [--late-us N]"
                             " [--poll-us N] [--then ...]";

enum { most_consecutive = 1000000 };

struct options {
    int lengths[most_values];
    int length_count;
    int roots[most_values];
    int root_count;
    int consecutives[most_values];
    int consecutive_count;
    int settle_calls;
    int settle_ms;
    int repeat;
    int pause_ms;
    int cold;
    int beside_native;
    int late_us;
    int poll_us;
};

static struct options defaults_of(const struct collective* collective) {
    const struct options options = {.lengths = {collective->gives == nothing ? 0 : 24},
                                    .length_count = 1,
                                    .root_count = 1,
                                    .consecutives = {1},
                                    .consecutive_count = 1,
                                    .repeat = 5};
    return options;
}

static int most_bytes_of(const struct collective* collective) {
    return collective->gives == nothing ? 0 : in_blocks(collective) ? INT32_MAX / size : INT32_MAX;
}

/* Reads options from argv[from] up to --then or the end, and returns where the next ones begin. */
static int parse(int from, int argc, char** argv, const struct collective* collective,
                 struct options* options) {
    const struct option known[] = {
        {"--bytes", 0, most_bytes_of(collective), options->lengths, &options->length_count, NULL},
        {"--roots", 0, collective->rooted ? size - 1 : 0, options->roots, &options->root_count, NULL},
        {"--consecutive", 0, most_consecutive, options->consecutives, &options->consecutive_count, NULL},
        {"--repeat", 1, 1000000, &options->repeat, NULL, NULL},
        {"--pause-ms", 0, 1000000, &options->pause_ms, NULL, NULL},
        {"--settle-calls", 0, 1000000000, &options->settle_calls, NULL, NULL},
        {"--settle-ms", 0, 1000000000, &options->settle_ms, NULL, NULL},
        {"--cold", 0, 1, &options->cold, NULL, NULL},
        {"--beside-native", 0, 1, &options->beside_native, NULL, NULL},
        {"--late-us", 0, 1000000000, &options->late_us, NULL, NULL},
        {"--poll-us", 0, 1000000, &options->poll_us, NULL, NULL},
    };
    int end = from;
    while (end < argc && strcmp(argv[end], "--then") != 0) {
        ++end;
    }
    take_options(from, end, argv, known, sizeof known / sizeof *known);
    return end + 1;
}

enum { start_tag = result_tag + 1 };
/* Of calls that are timed together while all settles. What is measured is a part of that. */
static const double settling_batch_ms = 5;
enum { measured_part = 10 };

/* In which all others have heard from the root and answered, at the root. */
static double round_trip_ms(int root) {
    const double begin = now_ms();
    told_by(root, 0, start_tag);
    latest_at(root, 0);
    return now_ms() - begin;
}

/* How far ahead the root must tell a time for all to hear of it before. */
static double notice_ms(const struct call* call) {
    if (from_root(call->collective)) {
        return 0;
    }
    round_trip_ms(call->root); /* connects */
    return round_trip_ms(call->root);
}

/* Of a last level that is larger than this, as virtual machines share one, something may stay. */
static void empty_cache(void) {
    enum { length = 64 << 20 };
    static unsigned char* other = NULL;
    static unsigned char round = 0;
    if (other == NULL) {
        other = room_for(length);
    }
    memset(other, ++round, length);
}

/* 0: never. */
static void poll_until(double time_ms, double every_ms) {
    while (every_ms > 0 && time_ms - now_ms() > every_ms) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        pause_ms(every_ms);
    }
}

/* Returns when it is this rank's time to enter, once all are ready. */
static void wait_for_start(const struct call* call, double notice, double pause, int poll_us) {
    const double poll = poll_us / 1e3;
    const double begin = now_ms() + pause + pause_before_start_ms;
    if (!from_root(call->collective)) {
        const double told = told_by(call->root, begin + notice, start_tag);
        poll_until(told, poll);
        wait_until(told);
    } else if (rank == call->root) {
        poll_until(begin, poll);
        pause_ms(begin > now_ms() ? begin - now_ms() : 0);
    }
}

/* A rank's, and of these by all_latest_at the latest; negative ones give the first of them. */
enum time { last_end, last_begin, minus_first_begin, minus_first_end, time_count };

/* At the root: nobody may leave a barrier before everybody has come. */
static void check_barrier(const struct call* call, const double* times) {
    if (one_clock && call->collective->gives == nothing &&
        -times[minus_first_end] < times[last_begin]) {
        fprintf(stderr, "%s: a rank left the barrier before another had entered it\n", program_name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* A pause is for those that settle and that are measured, a cold cache and the MPI library's turns for the last. */
enum stage { first_call, settling_calls, measured_calls };

struct rounds {
    const struct options* options;
    enum stage stage;
    int consecutive;
    int repeat;
    double notice_ms;
    double* values; /* the root's to know: how far entries were apart at most, and each round's completion, in ms */
};

/* MPI's functions as the MPI library has them, past whatever is preloaded: in the library that a function is in which
 * nobody preloads. */
static const struct functions* natives(void) {
    static struct functions found;
    if (found.Barrier != NULL) {
        return &found;
    }
    Dl_info info;
    void* const any = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    void* const library =
        any != NULL && dladdr(any, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library == NULL) {
        fprintf(stderr, "no MPI library is found whose own functions could be called\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
#define FIND(name, function, ...) *(void**)&found.function = dlsym(library, "MPI_" #function);
    EACH_CALL(FIND)
#undef FIND
    return &found;
}

/* Every other round, from the second on, is the MPI library's. */
static int beside_native(const struct rounds* rounds) {
    return rounds->stage == measured_calls && rounds->options->beside_native;
}

static void note_round(const struct call* call, const struct rounds* rounds, int round,
                       double begin, const double* times) {
    const double from = call->collective->rooted ? begin : times[last_begin];
    const double spread =
        from_root(call->collective) ? 0 : times[last_begin] + times[minus_first_begin];
    rounds->values[1 + round] = times[last_end] - from;
    if (spread > rounds->values[0]) {
        rounds->values[0] = spread;
    }
}

static void run_rounds(struct call* call, const struct rounds* rounds) {
    const struct options* const options = rounds->options;
    double begin = 0, end = 0;
    rounds->values[0] = 0;
    for (int i = 0; i <= rounds->repeat; ++i) {
        const size_t expected_bytes = prepare_call(call, (unsigned)(i + rounds->consecutive));
        if (rounds->stage == measured_calls && options->cold) {
            empty_cache();
        }
        double times[time_count] = {end, begin, -begin, -end};
        all_latest_at(call->root, times, time_count);
        if (i > 0 && rank == call->root) {
            check_barrier(call, times);
            note_round(call, rounds, i - 1, begin, times);
        }
        if (i == rounds->repeat) {
            return;
        }
        wait_for_start(call, rounds->notice_ms, rounds->stage == first_call ? 0 : options->pause_ms,
                       options->poll_us);
        const int natively = beside_native(rounds) && i % 2 == 1;
        functions = natively ? natives() : &as_linked;
        begin = now_ms();
        for (int each = 0; each < rounds->consecutive; ++each) {
            if (options->late_us > 0 && rank == size - 1) {
                wait_until(now_ms() + options->late_us / 1e3);
            }
            run_call(call);
        }
        end = now_ms();
        check_bytes(call->output, call->expected, expected_bytes, call->root);
    }
}

/* What went before the measured calls of one length and root. */
struct settling {
    int step_count;
    int calls; /* of the last step */
    double least_call_ms; /* in any step: on a busy machine most are disturbed */
    double* steps; /* of each its calls and the root's ms, in turn */
};

static void add_step(struct settling* settling, double ms) {
    const size_t used = 2 * (size_t)settling->step_count++;
    settling->steps = more_room(settling->steps, (used + 2) * sizeof *settling->steps);
    settling->steps[used] = settling->calls;
    settling->steps[used + 1] = ms;
}

/* The root's choice, which it tells all: 0 calls end it. */
static int calls_of_next_step(const struct options* options, const struct settling* settling,
                              double since_ms, long calls) {
    const int grows = settling->calls * settling->least_call_ms < settling_batch_ms &&
                      2 * settling->calls <= most_consecutive;
    const int is_over = calls >= options->settle_calls && since_ms >= options->settle_ms;
    /* In which ranks connect: its time says nothing of the others'. */
    const int is_first = settling->step_count == 1;
    if (is_over && (options->consecutives[0] > 0 || !(grows || is_first))) {
        return 0;
    }
    return grows ? 2 * settling->calls : settling->calls;
}

static void settle(const struct options* options, struct call* call, double notice,
                   struct settling* settling) {
    const double begin = now_ms();
    long calls = 0;
    for (int next = 1; next > 0;) {
        double step[2] = {0};
        settling->calls = next;
        run_rounds(call, &(struct rounds){options, settling_calls, next, 1, notice, step});
        add_step(settling, step[1]);
        if (step[1] / next < settling->least_call_ms) {
            settling->least_call_ms = step[1] / next;
        }
        calls += next;
        const int wanted = calls_of_next_step(options, settling, now_ms() - begin, calls);
        next = (int)told_by(call->root, wanted, start_tag);
    }
}

static void print_settling(const struct settling* settling) {
    printf(",\"settling\":[");
    for (int i = 0; i < settling->step_count; ++i) {
        printf("%s[%.0f,%.6f]", i == 0 ? "" : ",", settling->steps[2 * i], settling->steps[2 * i + 1]);
    }
    printf("]}\n");
}

static void print_line(const struct call* call, double first_ms, const struct rounds* rounds,
                       const struct settling* settling) {
    if (rank != 0) {
        return;
    }
    printf("{\"bytes\":%d,\"collective\":\"%s\",\"root\":%d,\"consecutive\":%d,\"first_ms\":%.6f,"
           "\"entry_spread_ms\":%.6f,\"completion_ms\":",
           call->length, call->collective->name, call->root, rounds->consecutive, first_ms,
           rounds->values[0]);
    const int ways = 1 + beside_native(rounds);
    print_numbers(rounds->values + 1, rounds->repeat, ways);
    if (ways > 1) {
        printf(",\"native_ms\":");
        print_numbers(rounds->values + 2, rounds->repeat - 1, ways);
    }
    print_settling(settling);
    fflush(stdout);
}

static void measure(const struct options* options, struct call* call) {
    const double notice = notice_ms(call);
    const int repeat = options->repeat * (1 + options->beside_native);
    double* const values = room_for(((size_t)repeat + 1) * sizeof *values);
    struct settling settling = {.least_call_ms = 1e300};
    double first[2]; /* the spread, and the first call's completion */
    run_rounds(call, &(struct rounds){options, first_call, 1, 1, notice, first});
    hand_over(first, 2, call->root, 0, result_tag);
    if (options->settle_calls > 0 || options->settle_ms > 0 || options->consecutives[0] == 0) {
        settle(options, call, notice, &settling);
        hand_over(settling.steps, 2 * settling.step_count, call->root, 0, result_tag);
    }
    for (int c = 0; c < options->consecutive_count; ++c) {
        const int part = settling.calls < measured_part ? 1 : settling.calls / measured_part;
        const int asked = options->consecutives[c];
        const struct rounds rounds = {options, measured_calls, asked > 0 ? asked : part, repeat, notice, values};
        run_rounds(call, &rounds);
        hand_over(values, repeat + 1, call->root, 0, result_tag);
        print_line(call, first[1], &rounds, &settling);
    }
    free(values);
    free(settling.steps);
}

static void measure_all(const struct collective* collective, const struct options* options) {
    for (int r = 0; r < options->root_count; ++r) {
        for (int l = 0; l < options->length_count; ++l) {
            struct call call = make_call(collective, options->lengths[l], options->roots[r]);
            measure(options, &call);
            free_call(&call);
        }
    }
}

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    const struct collective* const collective = argc > 1 ? find_collective(argv[1]) : NULL;
    if (collective == NULL) {
        fail("unknown collective", argc > 1 ? argv[1] : "");
    }
    struct options options = defaults_of(collective);
    for (int next = 2; next < argc;) {
        next = parse(next, argc, argv, collective, &options); /* all of it first: no job ends half-way */
    }
    agree_on_clock();
    options = defaults_of(collective);
    int next = 2;
    do {
        next = parse(next, argc, argv, collective, &options);
        measure_all(collective, &options);
    } while (next < argc);
    MPI_Finalize();
    return 0;
}
