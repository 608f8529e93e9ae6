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

#include "broadcasting.h"

const char program_name[] = "steady";
const char program_usage[] = "[--bytes N] [--root R] [--count N] [--ahead N]"
                             " [--every-ms N] [--stop-before K,... --go PREFIX]";

enum { go_tag = 4, begin_tag };

struct options {
    struct broadcasts all;
    int ahead;
    int stops[most_values];
    int stop_count;
    const char* go;
};

static struct options parse(int argc, char** argv) {
    struct options options = {.all = {.length = 24, .count = 20}, .ahead = 1};
    struct option known[common_options + 3] = {
        {"--ahead", 1, 1000000, &options.ahead, NULL, NULL},
        {"--stop-before", 1, 1000000, options.stops, &options.stop_count, NULL},
        {"--go", 0, 0, NULL, NULL, &options.go},
    };
    common_options_of(&options.all, known + 3);
    take_options(1, argc, argv, known, common_options + 3);
    if (options.all.count == 0) {
        fail("no calls:", "--count 0");
    }
    if (options.stop_count > 0 && options.go == NULL) {
        fail("no --go", "for --stop-before");
    } else if (options.stop_count > 0 && options.all.every_ms > 0) {
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
    const int root = options->all.root;
    if (rank == root) {
        printf("{\"stopped\":%d}\n", call);
        fflush(stdout);
        wait_for_file(options->go, call);
    }
    told_by(root, 0, go_tag);
    latest_at(root, 0);
    return now_ms() - begin;
}

static void say_when_it_began(const struct broadcasts* all, double begin_ms) {
    if (rank == all->root) {
        printf("{\"began_ms\":%.3f}\n", begin_ms);
        fflush(stdout);
    }
}

/* The calls that are not counted, each complete everywhere before the next. Returns how long the first took. */
static double go_ahead(const struct broadcasts* all, int calls) {
    double begin, end = 0, first_ms = 0;
    for (int i = 0; i < calls; ++i) {
        latest_at(all->root, 0);
        broadcast(all, i, &begin, &end);
        const double latest = latest_at(all->root, end);
        if (i == 0) {
            first_ms = latest - begin;
        }
    }
    return first_ms;
}

/* Returns how long all stood. */
static double one_after_the_other(const struct options* options, struct broadcasts* all) {
    double end = 0, stopped_ms = 0;
    say_when_it_began(all, now_ms());
    for (int call = 1; call <= all->count; ++call) {
        const double latest = latest_at(all->root, end);
        if (call > 1) {
            all->end_ms[call - 2] = latest;
        }
        if (stops_before(options, call)) {
            stopped_ms += stop(options, call);
        }
        pause_root_until(all, now_ms() + pause_before_start_ms);
        broadcast(all, call, &all->begin_ms[call - 1], &end);
    }
    all->end_ms[all->count - 1] = latest_at(all->root, end);
    return stopped_ms;
}

static void at_a_pace(struct broadcasts* all) {
    const double began = now_ms() + all->every_ms;
    say_when_it_began(all, began);
    for (int call = 1; call <= all->count; ++call) {
        pause_root_until(all, began + (double)(call - 1) * all->every_ms);
        broadcast(all, call, &all->begin_ms[call - 1], &all->end_ms[call - 1]);
    }
}

/* Rank 0 writes the library's report: what that says of a call began when rank 0 entered it. Returns where they are. */
static const double* begins_of_rank_0(struct broadcasts* all) {
    if (all->root == 0) {
        return all->begin_ms;
    }
    if (rank == 0) {
        MPI_Send(all->begin_ms, all->count, MPI_DOUBLE, all->root, begin_tag, MPI_COMM_WORLD);
    } else if (rank == all->root) {
        MPI_Recv(all->other_ms, all->count, MPI_DOUBLE, 0, begin_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return all->other_ms;
}

int main(int argc, char** argv) {
    const double start = now_ms();
    start_mpi(&argc, &argv);
    const struct options options = parse(argc, argv);
    struct broadcasts all = options.all;
    agree_on_clock();
    make_room(&all);
    const double first_ms = go_ahead(&all, options.ahead);
    double stopped_ms = 0;
    if (all.every_ms > 0) {
        at_a_pace(&all);
    } else {
        stopped_ms = one_after_the_other(&options, &all);
    }
    const double whole_ms = now_ms() + clock_offset_ms - start;
    if (all.every_ms > 0) {
        gather_ends(&all);
    }
    const double* const of_rank_0_ms = begins_of_rank_0(&all);
    if (rank == all.root) {
        printf("{\"bytes\":%d,\"root\":%d,\"every_ms\":%d,\"whole_ms\":%.3f,\"stopped_ms\":%.3f,"
               "\"first_ms\":%.3f", all.length, all.root, all.every_ms, whole_ms, stopped_ms, first_ms);
        printf(",\"rank_0_begin_ms\":");
        print_numbers(of_rank_0_ms, all.count, 1);
        print_calls(&all, 0);
        printf("}\n");
        fflush(stdout);
    }
    free_room(&all);
    /* MPICH over TCP may drop what a rank sent just before it ends. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
