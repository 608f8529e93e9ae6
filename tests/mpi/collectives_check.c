/* collectives_check [in_order | SEED] COLLECTIVE...: calls collectives in every way that MPI allows and compares every
 * element with what was computed here, and every byte around and between them with what was there: lengths from
 * nothing to many, all roots, blocks in place, blocks of many lengths anywhere in memory, datatypes that
 * differ between the sides of a call and have holes, operators that do not commute, communicators that are reordered or
 * parts of the world. Run natively it checks itself. Prints "ok CHECKS" from rank 0.
 * in_order: reductions alone, of doubles whose sum depends, bit by bit, on the order in which they are added.
 * SEED: reductions alone, of types that are drawn by it and some numbers after it. */
#include <sys/mman.h>
#include <time.h>

#include "blocks_check.h"
#include "reductions_check.h"

/* --- broadcasts --------------------------------------------------------------------------------------------------- */

/* Of every kind of datatype and length from every root, of which every byte is compared with what MPI promises; bytes
 * in the gaps of a datatype must stay untouched. Ranks describe the same signature differently, which breaks
 * implementations that segment by count (Open MPI issues 199, 1763, 10523). */
static void check_layout(struct place here, int root, int n, int kind) {
    struct side layout = make_side(1, &n, kind, 0, 0);
    struct buffer message = make_ints(layout.ints);
    if (here.rank == root) {
        put(&message, &layout, 0, root, 0);
    }
    check(MPI_Bcast(message.data, layout.counts[0], layout.types[0], root, here.comm) == MPI_SUCCESS, "return code", n);
    take(&message, &layout, 0, root, 0, "wrong data broadcast");
    end_buffer(&message, "a broadcast wrote elsewhere");
    end_side(&layout);
}

static void check_zero_and_bottom(void) {
    int value = untouched;
    check(MPI_Bcast(&value, 0, MPI_INT, world_size - 1, MPI_COMM_WORLD) == MPI_SUCCESS, "zero", 0);
    check(value == untouched, "zero elements wrote", value);

    double numbers[3] = {0, 0, 0};
    if (world_rank == 0) {
        numbers[0] = 1.5;
        numbers[2] = -2.5;
    }
    int lengths[2] = {1, 1};
    MPI_Aint addresses[2];
    MPI_Get_address(&numbers[0], &addresses[0]);
    MPI_Get_address(&numbers[2], &addresses[1]);
    MPI_Datatype absolute;
    MPI_Type_create_hindexed(2, lengths, addresses, MPI_DOUBLE, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD);
    MPI_Type_free(&absolute);
    check(numbers[0] == 1.5 && numbers[1] == 0 && numbers[2] == -2.5, "MPI_BOTTOM", 0);
}

/* The root's memory may be such that nobody can write it. */
static void check_read_only_root(void) {
    const size_t length = 8192;
    char* const message = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (world_rank == 0) {
        memset(message, 'r', length);
        mprotect(message, length, PROT_READ);
    }
    MPI_Bcast(message, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD);
    check(message[0] == 'r' && message[length - 1] == 'r', "from memory that is only read", message[0]);
    munmap(message, length);
}

/* A root far ahead of its receivers, and many communicators made and freed. */
static void check_many(void) {
    for (int i = 0; i < 300; ++i) {
        const int root = i % 2 % world_size;
        int value = world_rank == root ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        check(value == i, "repeated call", i);
    }
    for (int i = 0; i < 40; ++i) {
        MPI_Comm comm;
        int value = world_rank == 0 ? i : -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Bcast(&value, 1, MPI_INT, 0, comm);
        check(value == i, "new communicator", i);
        MPI_Comm_free(&comm);
    }
}

static void all_broadcasts(struct place here) {
    static const int lengths[] = {2, 94, 4098, 40000}, short_lengths[] = {6, 1000};
    const int in_the_world = here.comm == MPI_COMM_WORLD, count = in_the_world ? 4 : 2;
    for (int root = 0; root < here.size; ++root) {
        for (int l = 0; l < count; ++l) {
            const int n = (in_the_world ? lengths : short_lengths)[l];
            for (int kind = 0; kind < layouts; ++kind) {
                check_layout(here, root, n, kind);
            }
            /* Every rank its own description of the same signature. */
            check_layout(here, root, n, (here.rank + root) % layouts);
        }
    }
    if (in_the_world) {
        check_zero_and_bottom();
        check_read_only_root();
        check_many();
    }
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

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

/* --- all of them -------------------------------------------------------------------------------------------------- */

static const struct collective* collective_named(const char* name) {
    const struct collective* const found = find_collective(name);
    expect(found != NULL, name, 0);
    return found;
}

/* `names` end with null. Reductions are of kinds from `first` to before `end`. */
static void check_on(MPI_Comm comm, char** names, const struct kind* all, int first, int end) {
    const struct place here = place_on(comm);
    for (; *names != NULL; ++names) {
        const struct collective* const it = collective_named(*names);
        if (it->run == barrier) {
            barriers(here);
        } else if (it->run == broadcast) {
            all_broadcasts(here);
        } else if (it->reduces) {
            all_reductions(here, it, all, first, end);
        } else if (it->uneven) {
            all_uneven_blocks(here, it);
        } else {
            all_blocks(here, it);
        }
    }
}

static void check_drawn(char** names, int first_seed) {
    enum { seeds = 20 };
    const struct place here = place_on(MPI_COMM_WORLD);
    for (int number = first_seed; number < first_seed + seeds; ++number) {
        srand((unsigned)number);
        struct kind kind = drawn_kind();
        const int count = rand() % 4 == 0 ? 3000 + rand() % 3000 : 1 + rand() % 50;
        for (char** name = names; *name != NULL; ++name) {
            for (int in_place = 0; in_place < 2; ++in_place) {
                reduction(here, collective_named(*name), &kind, count, number % here.size, in_place);
            }
        }
        free_own(&kind);
    }
}

static void check_everywhere(char** names, int first, int end) {
    struct kind all[kinds];
    make_kinds(all);
    MPI_Comm reversed, part;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
    check_on(MPI_COMM_WORLD, names, all, first, end);
    check_on(reversed, names, all, first, end);
    check_on(part, names, all, first, end);
    check_on(MPI_COMM_SELF, names, all, first, end);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&part);
    for (int kind = 0; kind < kinds; ++kind) {
        if (all[kind].fields != NULL) {
            free_own(&all[kind]);
        }
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    end_within(50 * (unsigned)argc);
    expect(argc > 1, "usage: collectives_check [in_order | SEED] COLLECTIVE...", argc);
    if (strcmp(argv[1], "in_order") == 0) {
        check_everywhere(argv + 2, in_order, kinds);
    } else if (argv[1][0] >= '0' && argv[1][0] <= '9') {
        check_drawn(argv + 2, atoi(argv[1]));
    } else {
        check_everywhere(argv + 1, 0, usual_kinds);
    }
    end_counted();
    return 0;
}
