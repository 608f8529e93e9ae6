/* Broadcasts of every kind of datatype and length from every root, of which every byte is compared with what MPI
 * promises; bytes in the gaps of a datatype must stay untouched. Ranks describe the same signature differently, which
 * breaks implementations that segment by count (Open MPI issues 199, 1763, 10523). */
#pragma once

#include <sys/mman.h>

#include "blocks_check.h"

static inline void check_layout(struct place here, int root, int n, int kind) {
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

static inline void check_zero_and_bottom(void) {
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
static inline void check_read_only_root(void) {
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
static inline void check_many(void) {
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

static inline void all_broadcasts(struct place here) {
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
