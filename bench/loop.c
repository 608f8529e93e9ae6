/* An ordinary MPI program that computes and communicates in turn: what does a whole run of it take?
 *
 * Each step is the items of the command line, in their order. Computing is sleeping, so that several ranks can
 * share a processor. Collectives are those of collectives.h, from rank 0 where they have a root. What arrives is
 * checked in the first and the last step: comparing megabytes in each would make the loop another.
 *
 * With `random` each step is one of the items, drawn alike by all ranks and in every run, and all that arrives is
 * checked: what does a program of many short calls of several kinds take, with all that a library tries on the way?
 *
 * One JSON line from rank 0: the seconds from its first step until every rank has left the last one, and those of
 * each quarter of the steps. Nothing is sent for measuring until the loop is over.
 */
#include "collectives.h"

const char program_name[] = "loop";
const char program_usage[] = "STEPS [random] compute:MS|COLLECTIVE:BYTES ...";

enum { most_items = 16, quarters = most_latest, most_pause_ms = 3600000 };

struct item {
    int compute_ms;
    struct call call; /* where there is nothing to compute */
    size_t expected_bytes;
};

static int is_call(const struct item* item) {
    return item->call.collective != NULL;
}

/* Cuts the word in two. */
static struct item parse_item(char* word) {
    struct item item = {0};
    char* const colon = strchr(word, ':');
    if (colon == NULL) {
        fail("compute:MS or COLLECTIVE:BYTES is wanted, not", word);
    }
    *colon = '\0';
    if (strcmp(word, "compute") == 0) {
        item.compute_ms = parse_one(colon + 1, 0, most_pause_ms);
        return item;
    }
    const struct collective* const collective = find_collective(word);
    if (collective == NULL) {
        fail("unknown collective", word);
    }
    item.call = make_call(collective, parse_one(colon + 1, 0, 1 << 26), 0);
    item.expected_bytes = prepare_call(&item.call, 0);
    return item;
}

/* What earlier steps left there would pass for the result of this one. */
static void clear_results(struct item* items, int count) {
    for (int i = 0; i < count; ++i) {
        const struct call* const call = &items[i].call;
        const int holds_input = call->input == call->output && rank == call->root;
        if (is_call(&items[i]) && !holds_input) {
            memset(call->output, 0, items[i].expected_bytes);
        }
    }
}

static void check_results(const struct item* items, int count) {
    for (int i = 0; i < count; ++i) {
        if (is_call(&items[i])) {
            check_bytes(items[i].call.output, items[i].call.expected, items[i].expected_bytes,
                        items[i].call.root);
        }
    }
}

static void run_item(const struct item* item) {
    if (is_call(item)) {
        run_call(&item->call);
    } else {
        pause_ms(item->compute_ms);
    }
}

static void run_all(struct item* items, int count, int step, int steps) {
    if (step > 0 && step == steps - 1) {
        clear_results(items, count);
    }
    for (int i = 0; i < count; ++i) {
        run_item(&items[i]);
    }
    if (step == 0) {
        check_results(items, count);
    }
}

static void run_one(struct item* item, int step) {
    if (is_call(item)) {
        item->expected_bytes = prepare_call(&item->call, (unsigned)step);
    }
    run_item(item);
    check_results(item, 1);
}

/* Of a linear congruential generator (Knuth, MMIX), from 0 to less than 1. */
static double next_random(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Sets this rank's end of each quarter of the steps. */
static void run_steps(struct item* items, int count, int steps, int draws, double* ends_ms) {
    uint64_t drawn = 1;
    int quarter = 0;
    for (int step = 0; step < steps; ++step) {
        if (draws) {
            run_one(&items[(int)(next_random(&drawn) * count)], step);
        } else {
            run_all(items, count, step, steps);
        }
        while (quarter < quarters && (step + 1) * (int64_t)quarters >= (quarter + 1) * (int64_t)steps) {
            ends_ms[quarter++] = now_ms();
        }
    }
}

static void print_times(int steps, double begin_ms, const double* ends_ms) {
    double quarter_s[quarters];
    for (int i = 0; i < quarters; ++i) {
        quarter_s[i] = (ends_ms[i] - (i == 0 ? begin_ms : ends_ms[i - 1])) / 1e3;
    }
    printf("{\"steps\":%d,\"seconds\":%.6f,\"quarter_seconds\":", steps, (ends_ms[quarters - 1] - begin_ms) / 1e3);
    print_numbers(quarter_s, quarters, 1);
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    const int draws = argc > 2 && strcmp(argv[2], "random") == 0;
    char** const words = argv + 2 + draws;
    const int count = argc - 2 - draws;
    if (count < 1 || count > most_items) {
        fail("the number of steps and up to 16 items of each are wanted", "");
    }
    const int steps = parse_one(argv[1], 1, 100000000);
    struct item items[most_items];
    for (int i = 0; i < count; ++i) {
        items[i] = parse_item(words[i]);
    }
    agree_on_clock();
    double ends_ms[quarters];
    latest_at(0, 0);
    const double begin_ms = now_ms();
    run_steps(items, count, steps, draws, ends_ms);
    all_latest_at(0, ends_ms, quarters);
    if (!draws) {
        check_results(items, count);
    }
    if (rank == 0) {
        print_times(steps, begin_ms, ends_ms);
    }
    for (int i = 0; i < count; ++i) {
        if (is_call(&items[i])) {
            free_call(&items[i].call);
        }
    }
    /* MPICH over TCP may drop what a rank sent just before it ends. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
