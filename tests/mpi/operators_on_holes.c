/* Reductions by an operator of the program's own on types of its own: ints anywhere in an element, whose lower bound may be
 * negative and whose extent may be larger than needed. Types and lengths are drawn by a seed; each result is compared with
 * what this rank works out by itself, and what lies in the holes must stay.
 *
 *   operators_on_holes FIRST_SEED SEEDS */
#include "checked.h"

enum { most_fields = 3, margin = 128, modulus = 127, shift = 14 };
enum kind { reduce, allreduce, reduce_scatter_block, scan, exscan, kinds };

static struct element {
    int fields;
    int place[most_fields]; /* bytes from the element's origin */
    long lower, extent;
    int commutes;
} element;

/* Composition of x -> p x + q, both of them modulo a prime: associative, and does not commute. */
static int combined(int first, int second) {
    if (element.commutes) return first + second;
    const int p1 = first >> shift, q1 = first % (1 << shift), p2 = second >> shift, q2 = second % (1 << shift);
    return (p1 * p2 % modulus) << shift | (p1 * q2 + q1) % modulus;
}

static int* field(char* elements, long number, int which) {
    return (int*)(elements + number * element.extent + element.place[which]);
}

static void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        for (int f = 0; f < element.fields; ++f) {
            int* const result = field(inout, i, f);
            *result = combined(*field(in, i, f), *result);
        }
    }
}

static int operand(int of_rank, long number, int which) {
    const int p = (int)((of_rank * 7 + number * 3 + which * 5) % (modulus - 1)) + 1;
    const int q = (int)((of_rank * 11 + number * 13 + which) % modulus);
    return element.commutes ? of_rank * 1000 + (int)number * 10 + which : p << shift | q;
}

static MPI_Datatype drawn_type(void) {
    int ones[most_fields] = {1, 1, 1};
    MPI_Aint places[most_fields];
    MPI_Datatype ints[most_fields] = {MPI_INT, MPI_INT, MPI_INT}, plain, made;
    element.fields = 1 + rand() % most_fields;
    int place = (rand() % 7 - 3) * 4;
    const int lowest = place;
    for (int f = 0; f < element.fields; ++f) {
        element.place[f] = place;
        place += 4 + rand() % 3 * 4;
    }
    const int end = element.place[element.fields - 1] + 4;
    if (rand() % 3 == 0) { /* not in order of place */
        element.place[element.fields - 1] = lowest;
        element.place[0] = end - 4;
    }
    element.lower = lowest - rand() % 4 * 4;
    element.extent = end - element.lower + rand() % 4 * 4;
    element.commutes = rand() % 2;
    for (int f = 0; f < element.fields; ++f) places[f] = element.place[f];
    MPI_Type_create_struct(element.fields, ones, places, ints, &plain);
    MPI_Type_create_resized(plain, element.lower, element.extent, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&plain);
    return made;
}

static void call(enum kind kind, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root) {
    switch (kind) {
        case reduce: MPI_Reduce(send, receive, count, type, op, root, MPI_COMM_WORLD); break;
        case allreduce: MPI_Allreduce(send, receive, count, type, op, MPI_COMM_WORLD); break;
        case reduce_scatter_block: MPI_Reduce_scatter_block(send, receive, count, type, op, MPI_COMM_WORLD); break;
        case scan: MPI_Scan(send, receive, count, type, op, MPI_COMM_WORLD); break;
        default: MPI_Exscan(send, receive, count, type, op, MPI_COMM_WORLD); break;
    }
}

/* Elements of `result` that are not what ranks 0 to `last` make of theirs from `first` on. */
static int wrong_elements(char* result, int count, long first, int last) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        for (int f = 0; f < element.fields; ++f) {
            int expected = operand(0, first + i, f);
            for (int of_rank = 1; of_rank <= last; ++of_rank)
                expected = combined(expected, operand(of_rank, first + i, f));
            if (*field(result, i, f) != expected) {
                ++wrong;
                break;
            }
        }
    }
    return wrong;
}

static int wrong_results(int seed, MPI_Datatype type, MPI_Op op) {
    const int count = rand() % 4 == 0 ? 3000 + rand() % 3000 : 1 + rand() % 50;
    const int root = seed % world_size;
    const size_t bytes = (size_t)((long)count * world_size * element.extent) + 2 * margin;
    char* const mine = malloc(bytes);
    char* const result = malloc(bytes);
    int all_wrong = 0;
    memset(mine, 0x55, bytes);
    for (long i = 0; i < (long)count * world_size; ++i)
        for (int f = 0; f < element.fields; ++f) *field(mine + margin, i, f) = operand(world_rank, i, f);
    for (int kind = 0; kind < kinds; ++kind) {
        for (int in_place = 0; in_place < 2; ++in_place) {
            const int here = in_place && (kind != reduce || world_rank == root);
            if (here) memcpy(result, mine, bytes); else memset(result, 0x33, bytes);
            call(kind, here ? MPI_IN_PLACE : mine + margin, result + margin, count, type, op, root);
            if ((kind == reduce && world_rank != root) || (kind == exscan && world_rank == 0)) continue;
            const int last = kind == scan ? world_rank : kind == exscan ? world_rank - 1 : world_size - 1;
            const long first = kind == reduce_scatter_block ? (long)world_rank * count : 0;
            const int wrong = wrong_elements(result + margin, count, first, last);
            if (wrong > 0) {
                fprintf(stderr, "seed %d, collective %d, %s, rank %d: %d of %d elements wrong (lower bound %ld, extent %ld)\n", seed,
                       kind, in_place ? "in place" : "not in place", world_rank, wrong, count, element.lower, element.extent);
                ++all_wrong;
            }
        }
    }
    free(mine);
    free(result);
    return all_wrong;
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    end_within(100);
    expect(argc == 3, "usage: operators_on_holes FIRST_SEED SEEDS", argc);
    int wrong = 0;
    for (int seed = atoi(argv[1]), last = seed + atoi(argv[2]); seed < last; ++seed) {
        srand((unsigned)seed);
        MPI_Datatype type = drawn_type();
        MPI_Op op;
        MPI_Op_create(combine, element.commutes, &op);
        wrong += wrong_results(seed, type, op);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(wrong == 0, "wrong results", wrong);
    end("");
    return 0;
}
