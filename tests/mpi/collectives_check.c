/* collectives_check NAME...: calls collectives in every way that MPI allows and compares every element
 * with what was computed here, and every byte around and between them with what was there: lengths from
 * nothing to many, all roots, blocks in place, blocks of many lengths anywhere in memory, datatypes that
 * differ between the sides of a call and have holes, operators that do not commute, communicators that are reordered or
 * parts of the world. Run natively it checks itself. Prints "ok CHECKS" from rank 0. */
#include <time.h>

#include "broadcasts_check.h"
#include "reductions_check.h"

/* Nobody leaves before all have come; the clock is one for all, since the machine is. */
static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void barriers(struct place here) {
    for (int late = 0; late < here.size; ++late) {
        if (late == here.rank) {
            usleep(3000);
        }
        double times[2];
        times[0] = now_s();
        MPI_Barrier(here.comm);
        times[1] = now_s();
        double latest_begin = times[0], earliest_end = times[1];
        for (int other = 0; other < here.size; ++other) {
            double theirs[2];
            if (other == here.rank) {
                continue;
            }
            MPI_Sendrecv(times, 2, MPI_DOUBLE, other, 7, theirs, 2, MPI_DOUBLE, other, 7, here.comm,
                         MPI_STATUS_IGNORE);
            latest_begin = theirs[0] > latest_begin ? theirs[0] : latest_begin;
            earliest_end = theirs[1] < earliest_end ? theirs[1] : earliest_end;
        }
        check(earliest_end >= latest_begin, "left a barrier before all had come", late);
    }
}

static void check_on(MPI_Comm comm, int argc, char** argv, const struct kind* all) {
    const struct place here = place_on(comm);
    for (int i = 1; i < argc; ++i) {
        const struct collective* const it = find_collective(argv[i]);
        expect(it != NULL, argv[i], 0);
        if (it->run == barrier) {
            barriers(here);
        } else if (it->run == broadcast) {
            all_broadcasts(here);
        } else if (it->reduces) {
            all_reductions(here, it, all);
        } else if (it->uneven) {
            all_uneven_blocks(here, it);
        } else {
            all_blocks(here, it);
        }
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    end_within(50 * (unsigned)argc);
    expect(argc > 1, "usage: collectives_check COLLECTIVE...", argc);
    struct kind all[kinds];
    make_kinds(all);
    MPI_Comm reversed, part;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
    check_on(MPI_COMM_WORLD, argc, argv, all);
    check_on(reversed, argc, argv, all);
    check_on(part, argc, argv, all);
    check_on(MPI_COMM_SELF, argc, argv, all);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&part);
    MPI_Op_free(&all[3].op);
    MPI_Op_free(&all[5].op);
    MPI_Type_free(&all[3].type);
    MPI_Type_free(&all[4].type);
    end_counted();
    return 0;
}
