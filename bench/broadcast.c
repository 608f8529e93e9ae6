/* An ordinary MPI program that broadcasts and measures: it calls nothing but MPI and the clock, and
 * is the same binary whether mutirao is preloaded or not.
 *
 * For every length and root it repeats: every rank tells the root that it goes into MPI_Bcast, the
 * root then enters, and the completion is the time from there until the last rank has left the last
 * of --consecutive calls. What arrives is compared with what was sent. One JSON line per root,
 * length and number of consecutive calls from rank 0. After --then
 * follow further measurements of the same job, whose options begin as they were before it.
 */
#include "measuring.h"

const char program_name[] = "broadcast";
const char program_usage[] = "[--bytes N,...] [--roots R,...] [--repeat N] [--consecutive N,...]"
                             " [--then ...]";

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
        check_bytes(message->data, message->expected, message->length, root);
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
