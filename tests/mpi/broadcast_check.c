/* Broadcasts every kind of datatype, length, root and communicator and compares every byte with
 * what MPI promises; bytes in the gaps of a datatype must stay untouched. Ranks describe the same
 * signature differently, which breaks implementations that segment by count (Open MPI issues 199,
 * 1763, 10523). Run natively it checks itself. Prints "ok CHECKS" from rank 0. */
#include <sys/mman.h>

#include "counted.h"

/* Element i of what the root sends, never the filler of untouched memory. */
static int element(int i, int root) { return i * 7 + root * 1000003 + 1; }
enum { untouched = -559038737 };

/* A way to lay n ints out in memory: each gives a type and count for them, and where the i-th lies. */
struct layout {
    const char* name;
    MPI_Datatype type;
    int count;
    int slots; /* ints of memory spanned */
    int (*slot_of)(int i, int n);
};

static int slot_plain(int i, int n) { (void)n; return i; }
static int slot_every_other(int i, int n) { (void)n; return 2 * i; }
static int slot_pairs(int i, int n) { (void)n; return i / 2 * 3 + i % 2; }
static int slot_reversed(int i, int n) { return n - 1 - i; }
static int slot_swapped(int i, int n) { (void)n; return i ^ 1; }

static struct layout plain(int n) {
    struct layout made = {"plain", MPI_INT, n, n, slot_plain};
    return made;
}

static struct layout one_block(int n) {
    struct layout made = {"one contiguous element", MPI_DATATYPE_NULL, 1, n, slot_plain};
    MPI_Type_contiguous(n, MPI_INT, &made.type);
    return made;
}

static struct layout strided_vector(int n) {
    struct layout made = {"vector", MPI_DATATYPE_NULL, 1, 2 * n, slot_every_other};
    MPI_Type_vector(n, 1, 2, MPI_INT, &made.type);
    return made;
}

static struct layout padded_elements(int n) {
    struct layout made = {"resized elements", MPI_DATATYPE_NULL, n, 2 * n, slot_every_other};
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &made.type);
    return made;
}

static struct layout padded_pairs(int n) { /* n even */
    struct layout made = {"resized pairs", MPI_DATATYPE_NULL, n / 2, n / 2 * 3, slot_pairs};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &made.type);
    MPI_Type_free(&pair);
    return made;
}

static struct layout backwards(int n) {
    struct layout made = {"indexed backwards", MPI_DATATYPE_NULL, 1, n, slot_reversed};
    int* const lengths = malloc((size_t)n * sizeof(int));
    int* const offsets = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < n; ++i) {
        lengths[i] = 1;
        offsets[i] = n - 1 - i;
    }
    MPI_Type_indexed(n, lengths, offsets, MPI_INT, &made.type);
    free(lengths);
    free(offsets);
    return made;
}

/* No gaps and extent equal to size, yet the bytes are not in order. */
static struct layout swapped_pairs(int n) { /* n even */
    struct layout made = {"swapped pairs", MPI_DATATYPE_NULL, n / 2, n, slot_swapped};
    int lengths[2] = {1, 1};
    int offsets[2] = {1, 0};
    MPI_Type_indexed(2, lengths, offsets, MPI_INT, &made.type);
    return made;
}

static struct layout (*const layouts[])(int) = {plain,        one_block, strided_vector, padded_elements,
                                                padded_pairs, backwards, swapped_pairs};
enum { layout_count = sizeof layouts / sizeof layouts[0] };

static void check_layout(struct place here, int root, int n, struct layout layout) {
    int* const memory = malloc((size_t)(layout.slots + 1) * sizeof(int));
    for (int slot = 0; slot <= layout.slots; ++slot) {
        memory[slot] = untouched;
    }
    for (int i = 0; here.rank == root && i < n; ++i) {
        memory[layout.slot_of(i, n)] = element(i, root);
    }
    const int named = layout.type == MPI_INT;
    if (!named) {
        MPI_Type_commit(&layout.type);
    }
    check(MPI_Bcast(memory, layout.count, layout.type, root, here.comm) == MPI_SUCCESS, "return code", n);
    long sum = 0;
    for (int i = 0; i < n; ++i) {
        expect(memory[layout.slot_of(i, n)] == element(i, root), layout.name, i);
        memory[layout.slot_of(i, n)] = untouched;
    }
    for (int slot = 0; slot <= layout.slots; ++slot) {
        sum += memory[slot] != untouched;
    }
    check(sum == 0, "a gap was written in layout", n);
    if (!named) {
        MPI_Type_free(&layout.type);
    }
    free(memory);
}

static void check_communicator(MPI_Comm comm, const int* lengths, int length_count) {
    const struct place here = place_on(comm);
    for (int root = 0; root < here.size; ++root) {
        for (int l = 0; l < length_count; ++l) {
            for (int kind = 0; kind < layout_count; ++kind) {
                check_layout(here, root, lengths[l], layouts[kind](lengths[l]));
            }
            /* Every rank its own description of the same signature. */
            check_layout(here, root, lengths[l], layouts[(here.rank + root) % layout_count](lengths[l]));
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

static void check_errors(void) {
    MPI_Comm comm;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check(MPI_Bcast(&value, 1, MPI_INT, world_size + 3, comm) != MPI_SUCCESS, "wrong root accepted", world_size);
    check(MPI_Bcast(&value, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "wrong count accepted", -1);
    MPI_Comm_free(&comm);
}

static void check_between_groups(void) {
    if (world_size < 2) {
        return;
    }
    MPI_Comm half, between;
    const int lower = world_rank < world_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, lower, world_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower ? world_size / 2 : 0, 7, &between);
    int value = world_rank == 0 ? 4711 : 0;
    const int root = lower ? (world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    MPI_Bcast(&value, 1, MPI_INT, root, between);
    check(lower ? value == (world_rank == 0 ? 4711 : 0) : value == 4711, "intercommunicator", value);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
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
    check_errors();
    check_between_groups();
    check_many();
    end_counted();
    return 0;
}
