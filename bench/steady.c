/* An MPI program that goes on broadcasting, from its first moment on or while the network changes: it calls nothing
 * but MPI and the clock, and is the same binary whether mutirao is preloaded or not. It is for hosts that share a
 * kernel, and with it the clock.
 *
 * With --every-ms the root broadcasts at that pace, whatever becomes of its calls, as a program that computes in
 * between; nothing else is sent. Without it a broadcast, also the first, begins when the one before is complete
 * everywhere and all ranks are ready. A call's completion is the time from the root's entry until the last rank has
 * left. --ahead broadcasts go ahead of the counted ones, each complete everywhere before the next: in the first a
 * library sets up what it sets up once. Without any the first counted call is due when the root's MPI_Init returns.
 * With --count 0 there is nothing between MPI_Init and MPI_Finalize.
 *
 * The root prints JSON lines: where calls go ahead {"began_ms":...}, when the first counted one is due; {"stopped":K}
 * when everyone has stopped before call K (--stop-before, counted from 1), to go on as soon as there is a file
 * PREFIX.K (--go PREFIX); at the end everything that was measured, begins counted from when the first call was due.
 * The whole program is until the last rank has left the last broadcast. */
#include <unistd.h>

#include "measuring.h"

const char program_name[] = "steady";
const char program_usage[] = "[--bytes N] [--root R] [--count N] [--ahead N] [--every-ms N]"
                             " [--stop-before K,... --go PREFIX]";

enum { go_tag = 4, begin_tag };

static struct {
    int length, root, count, ahead;
    int every_ms; /* 0: a call begins when the one before is complete everywhere */
    int stops[most_values], stop_count;
    const char* go;
} options = {.length = 24, .count = 3};

static unsigned char *data, *expected;
static double* begin_ms; /* one for each counted call; this rank's */
static double* end_ms;   /* this rank's; at the root, in the end, the latest of all ranks */
static double* other_ms; /* of another rank */

static void parse(int argc, char** argv) {
    const struct option known[] = {
        {"--bytes", 0, INT32_MAX, &options.length, NULL, NULL},
        {"--root", 0, size - 1, &options.root, NULL, NULL},
        {"--count", 0, 3600000, &options.count, NULL, NULL},
        {"--ahead", 0, 1000000, &options.ahead, NULL, NULL},
        {"--every-ms", 0, 3600000, &options.every_ms, NULL, NULL},
        {"--stop-before", 1, 1000000, options.stops, &options.stop_count, NULL},
        {"--go", 0, 0, NULL, NULL, &options.go},
    };
    take_options(1, argc, argv, known, sizeof known / sizeof *known);
    if (options.stop_count > 0 && options.go == NULL) {
        fail("no --go", "for --stop-before");
    } else if (options.stop_count > 0 && options.every_ms > 0) {
        fail("a steady pace is not stopped, so no", "--stop-before");
    }
}

static void make_room(void) {
    data = room_for((size_t)options.length);
    expected = room_for((size_t)options.length);
    begin_ms = room_for(3 * (size_t)options.count * sizeof(double));
    end_ms = begin_ms + options.count;
    other_ms = end_ms + options.count;
}

/* `call` gives the message its content. */
static void broadcast(int call, double* begin, double* end) {
    fill(expected, options.length, (unsigned)call);
    if (rank == options.root) {
        memcpy(data, expected, (size_t)options.length);
    } else {
        memset(data, 0, (size_t)options.length);
    }
    *begin = now_ms();
    MPI_Bcast(data, options.length, MPI_BYTE, options.root, MPI_COMM_WORLD);
    *end = now_ms();
    check_bytes(data, expected, (size_t)options.length, options.root);
}

/* Returns when the first counted call is due. */
static double go_ahead(double initialised_ms) {
    if (options.ahead == 0) {
        return initialised_ms;
    }
    double begin, end;
    for (int i = 0; i < options.ahead; ++i) {
        latest_at(options.root, 0);
        broadcast(i, &begin, &end);
    }
    latest_at(options.root, 0);
    const double due_ms = now_ms() + options.every_ms;
    if (rank == options.root) {
        printf("{\"began_ms\":%.3f}\n", due_ms);
        fflush(stdout);
    }
    return due_ms;
}

static int stops_before(int call) {
    for (int i = 0; i < options.stop_count; ++i) {
        if (options.stops[i] == call) {
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
static double stop(int call) {
    const double begin = now_ms();
    if (rank == options.root) {
        printf("{\"stopped\":%d}\n", call);
        fflush(stdout);
        wait_for_file(options.go, call);
    }
    told_by(options.root, 0, go_tag);
    latest_at(options.root, 0);
    return now_ms() - begin;
}

/* A root that keeps a pace waits for nobody. Returns how long all stood. */
static double wait_for_turn(int call, double first_due_ms) {
    double due_ms = first_due_ms + (double)(call - 1) * options.every_ms, stopped_ms = 0;
    if (options.every_ms == 0) {
        latest_at(options.root, 0);
        stopped_ms = stops_before(call) ? stop(call) : 0;
        due_ms = now_ms() + pause_before_start_ms;
    }
    if (rank == options.root && due_ms > now_ms()) {
        pause_ms(due_ms - now_ms());
    }
    return stopped_ms;
}

/* Each rank's end of each call goes to the root when all is over, so that measuring sends nothing. */
static void gather_ends(void) {
    if (rank != options.root) {
        MPI_Send(end_ms, options.count, MPI_DOUBLE, options.root, result_tag, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; ++i) {
        MPI_Recv(other_ms, options.count, MPI_DOUBLE, MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int call = 0; call < options.count; ++call) {
            end_ms[call] = other_ms[call] > end_ms[call] ? other_ms[call] : end_ms[call];
        }
    }
}

/* Rank 0 writes the library's report: what that says of a call began when rank 0 entered it. They are in other_ms. */
static void fetch_begins_of_rank_0(void) {
    if (rank == 0) {
        memcpy(other_ms, begin_ms, (size_t)options.count * sizeof *begin_ms);
    }
    hand_over(other_ms, options.count, 0, options.root, begin_tag);
}

static void print_calls(double due_ms) {
    for (int call = 0; call < options.count; ++call) {
        end_ms[call] -= begin_ms[call];
        begin_ms[call] -= due_ms;
        other_ms[call] -= due_ms;
    }
    printf(",\"begin_ms\":");
    print_numbers(begin_ms, options.count, 1);
    printf(",\"rank_0_begin_ms\":");
    print_numbers(other_ms, options.count, 1);
    printf(",\"completion_ms\":");
    print_numbers(end_ms, options.count, 1);
}

int main(int argc, char** argv) {
    const double start_ms = now_ms();
    start_mpi(&argc, &argv);
    const double initialised_ms = now_ms(), init_ms = initialised_ms - start_ms;
    parse(argc, argv);
    make_room();
    double due_ms = initialised_ms, stopped_ms = 0, whole_ms = init_ms;
    if (options.count > 0) {
        due_ms = go_ahead(initialised_ms);
        for (int call = 1; call <= options.count; ++call) {
            stopped_ms += wait_for_turn(call, due_ms);
            broadcast(call, &begin_ms[call - 1], &end_ms[call - 1]);
        }
        check_clock();
        gather_ends();
        fetch_begins_of_rank_0();
        whole_ms = end_ms[options.count - 1] - start_ms;
        /* MPICH over TCP may drop what a rank sent just before it ends. */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const double ended_ms = now_ms();
    MPI_Finalize();
    if (rank == options.root) {
        printf("{\"bytes\":%d,\"root\":%d,\"every_ms\":%d,\"began_ms\":%.6f,\"init_ms\":%.3f,\"finalize_ms\":%.3f,"
               "\"whole_ms\":%.3f,\"stopped_ms\":%.3f", options.length, options.root, options.every_ms, due_ms,
               init_ms, now_ms() - ended_ms, whole_ms, stopped_ms);
        print_calls(due_ms);
        printf("}\n");
        fflush(stdout);
    }
    free(data);
    free(expected);
    free(begin_ms);
    return 0;
}
