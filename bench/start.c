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
#include "broadcasting.h"

const char program_name[] = "start";
const char program_usage[] = "[--bytes N] [--root R] [--count N] [--every-ms N]";

static struct broadcasts parse(int argc, char** argv) {
    struct broadcasts all = {.length = 24, .count = 3};
    struct option options[common_options];
    common_options_of(&all, options);
    take_options(1, argc, argv, options, common_options);
    return all;
}

static void wait_for_turn(const struct broadcasts* all, double initialised_ms, int call) {
    if (all->every_ms == 0) {
        latest_at(all->root, 0);
        pause_root_until(all, now_ms() + pause_before_start_ms);
    } else {
        pause_root_until(all, initialised_ms + (double)call * all->every_ms);
    }
}

/* Returns when MPI_Init had returned, on the common clock. */
static double on_one_clock(struct broadcasts* all, double initialised_ms) {
    agree_on_clock();
    for (int call = 0; call < all->count; ++call) {
        all->begin_ms[call] -= clock_offset_ms;
        all->end_ms[call] -= clock_offset_ms;
    }
    return initialised_ms - clock_offset_ms;
}

static void print_times(const struct broadcasts* all, double init_ms, double initialised_ms, double finalize_ms) {
    const double broadcasts_ms = all->count == 0 ? 0 : all->end_ms[all->count - 1] - initialised_ms;
    printf("{\"bytes\":%d,\"root\":%d,\"every_ms\":%d,\"init_ms\":%.3f,\"finalize_ms\":%.3f,"
           "\"whole_ms\":%.3f", all->length, all->root, all->every_ms, init_ms, finalize_ms,
           init_ms + broadcasts_ms + finalize_ms);
    print_calls(all, initialised_ms);
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char** argv) {
    const double start_ms = now_ms();
    start_mpi(&argc, &argv);
    double initialised_ms = now_ms();
    const double init_ms = initialised_ms - start_ms;
    struct broadcasts all = parse(argc, argv);
    make_room(&all);
    for (int call = 0; call < all.count; ++call) {
        wait_for_turn(&all, initialised_ms, call);
        broadcast(&all, call, &all.begin_ms[call], &all.end_ms[call]);
    }
    if (all.count > 0) {
        initialised_ms = on_one_clock(&all, initialised_ms);
        gather_ends(&all);
        /* MPICH over TCP may drop what a rank sent just before it ends. */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const double finalize_ms = now_ms();
    MPI_Finalize();
    if (rank == all.root) {
        print_times(&all, init_ms, initialised_ms, now_ms() - finalize_ms);
    }
    free_room(&all);
    return 0;
}
