/* How long single messages take between far hosts: the table that predictions of long collectives stand on. Half of
 * the ranks each send messages of one length to one of the other half, all at the same times: the first over a
 * connection that is not there yet, then over one that has lain idle for each pause, alone, two in a row, and both
 * ways at once. Ranks look for messages while they pause, as MPI libraries need it.
 *
 * A time is from when a message is handed over until the last that belongs to it has arrived, on one clock: this is
 * for hosts that share a kernel. Rank 0 prints one JSON line. */
#include "measuring.h"

const char program_name[] = "messages";
const char program_usage[] = "--bytes N,... [--pause-ms N,...] [--repeat N], on two ranks for each length";

enum form { alone, two_in_a_row, both_ways, forms };
static const char* const form_names[forms] = {"alone", "two in a row", "both ways"};
enum { message_tag = 10, time_tag = 11, most_repeat = 32 };

struct options {
    int bytes[most_values], lengths;
    int pauses_ms[most_values], pauses;
    int repeat;
};

static int partner, sends, length;
static unsigned char *sent, *arrived;

static struct options parse(int argc, char** argv) {
    struct options options = {.pauses = 1, .repeat = 3};
    const struct option known[] = {
        {"--bytes", 8, INT32_MAX, options.bytes, &options.lengths, NULL},
        {"--pause-ms", 0, 3600000, options.pauses_ms, &options.pauses, NULL},
        {"--repeat", 1, most_repeat, &options.repeat, NULL, NULL},
    };
    take_options(1, argc, argv, known, sizeof known / sizeof *known);
    if (size != 2 * options.lengths) {
        fail("so many lengths do not fit the ranks:", argc > 2 ? argv[2] : "none");
    }
    return options;
}

static void look_until(double time_ms) {
    while (now_ms() < time_ms) {
        int there;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        pause_ms(time_ms - now_ms() > 1 ? 0.5 : 0.02);
    }
}

/* A time, by the sender's word. */
static double agreed(double time_ms) {
    if (sends) {
        MPI_Send(&time_ms, 1, MPI_DOUBLE, partner, time_tag, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&time_ms, 1, MPI_DOUBLE, partner, time_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return time_ms;
}

/* The time until here, or 0 where nothing came. */
static double exchange_at(double begin_ms, enum form form) {
    const int out = sends ? (form == two_in_a_row ? 2 : 1) : form == both_ways;
    const int in = sends ? form == both_ways : (form == two_in_a_row ? 2 : 1);
    MPI_Request receiving[2], sending[2];
    MPI_Status statuses[2];
    for (int i = 0; i < in; ++i) {
        MPI_Irecv(arrived, length, MPI_BYTE, partner, message_tag, MPI_COMM_WORLD, &receiving[i]);
    }
    if (out > 0) {
        look_until(begin_ms);
    }
    for (int i = 0; i < out; ++i) {
        MPI_Isend(sent, length, MPI_BYTE, partner, message_tag, MPI_COMM_WORLD, &sending[i]);
    }
    MPI_Waitall(in, receiving, statuses);
    const double ended_ms = now_ms();
    MPI_Waitall(out, sending, statuses);
    return in > 0 ? ended_ms - begin_ms : 0;
}

/* Of both ranks, at the receiver. */
static double longest(double mine) {
    double theirs = mine;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, partner, time_tag, &theirs, 1, MPI_DOUBLE, partner, time_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return mine > theirs ? mine : theirs;
}

static void show(const char* form, int bytes, int pause, const double* times, int count, int last) {
    printf("{\"form\": \"%s\", \"bytes\": %d, \"pause_ms\": %d, \"times_ms\": ", form, bytes, pause);
    print_numbers(times, count, 1);
    printf("}%s", last ? "" : ", ");
}

static void tell(const struct options* options, const double* times, int count) {
    for (int pair = 0; pair < options->lengths; ++pair) {
        double theirs[count];
        if (rank == pair + options->lengths) {
            MPI_Send(times, count, MPI_DOUBLE, 0, result_tag, MPI_COMM_WORLD);
        }
        if (rank != 0) {
            continue;
        }
        MPI_Recv(theirs, count, MPI_DOUBLE, pair + options->lengths, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf(pair == 0 ? "{\"points\": [" : ", ");
        show("first", options->bytes[pair], 0, theirs, 1, 0);
        const double* next = theirs + 1;
        for (int pause = 0; pause < options->pauses; ++pause) {
            for (int form = 0; form < forms; ++form, next += options->repeat) {
                show(form_names[form], options->bytes[pair], options->pauses_ms[pause], next, options->repeat,
                     pause + 1 == options->pauses && form + 1 == forms);
            }
        }
    }
    if (rank == 0) {
        printf("]}\n");
    }
}

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    const struct options options = parse(argc, argv);
    const int pair = rank % options.lengths;
    sends = rank < options.lengths;
    partner = sends ? rank + options.lengths : pair;
    length = options.bytes[pair];
    sent = room_for((size_t)length);
    arrived = room_for((size_t)length);
    fill(sent, length, 1);
    static double times[1 + most_values * forms * most_repeat];
    int count = 0;
    /* The message itself says when it began. */
    double begin = now_ms();
    memcpy(sent, &begin, sizeof begin);
    if (sends) {
        MPI_Send(sent, length, MPI_BYTE, partner, message_tag, MPI_COMM_WORLD);
    } else {
        MPI_Recv(arrived, length, MPI_BYTE, partner, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(&begin, arrived, sizeof begin);
    }
    times[count++] = now_ms() - begin;
    const double told = agreed(now_ms()), way_ms = longest(now_ms() - told);
    for (int pause = 0; pause < options.pauses; ++pause) {
        for (int form = 0; form < forms; ++form) {
            for (int i = 0; i < options.repeat; ++i) {
                const double notice_ms = 1.2 * way_ms + 1, idle_ms = options.pauses_ms[pause];
                begin = agreed(now_ms() + (idle_ms > notice_ms ? idle_ms : notice_ms));
                times[count++] = longest(exchange_at(begin, (enum form)form));
            }
        }
    }
    if (!sends) {
        check_bytes(arrived + sizeof begin, sent + sizeof begin, (size_t)length - sizeof begin, partner);
    }
    check_clock();
    tell(&options, times, count);
    free(sent);
    free(arrived);
    MPI_Finalize();
    return 0;
}
