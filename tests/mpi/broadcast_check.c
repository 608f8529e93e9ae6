/* Broadcasts every kind of datatype, length, root and communicator and compares every byte with
 * what MPI promises; bytes in the gaps of a datatype must stay untouched. Ranks describe the same
 * signature differently, which breaks implementations that segment by count (Open MPI issues 199,
 * 1763, 10523). Run natively it checks itself. Prints "ok CHECKS" from rank 0. */
#include <sys/mman.h>

#include "blocks_check.h"

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

static void check_communicator(MPI_Comm comm, const int* lengths, int length_count) {
    const struct place here = place_on(comm);
    for (int root = 0; root < here.size; ++root) {
        for (int l = 0; l < length_count; ++l) {
            for (int kind = 0; kind < layouts; ++kind) {
                check_layout(here, root, lengths[l], kind);
            }
            /* Every rank its own description of the same signature. */
            check_layout(here, root, lengths[l], (here.rank + root) % layouts);
        }
    }
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
        int value = world_rank == i % 2 ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, i % 2, MPI_COMM_WORLD);
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

int main(int argc, char** argv) {
    static const int lengths[] = {2, 94, 4098, 40000};
    static const int short_lengths[] = {6, 1000};
    begin(&argc, &argv);
    end_within(100);
    check_communicator(MPI_COMM_WORLD, lengths, 4);
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &other); /* reversed */
    check_communicator(other, short_lengths, 2);
    MPI_Comm_free(&other);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &other);
    check_communicator(other, short_lengths, 2);
    MPI_Comm_free(&other);
    check_communicator(MPI_COMM_SELF, short_lengths, 2);
    check_zero_and_bottom();
    check_read_only_root();
    check_many();
    end_counted();
    return 0;
}
