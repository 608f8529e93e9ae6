/* Reductions by an operator of the program's own on types of its own: ints anywhere in an element, whose lower bound may be
 * negative and whose extent may be larger than needed. Types and lengths are drawn by a seed; each result is compared with
 * what this rank works out by itself, and what lies in the holes must stay.
 *
 *   operators_on_holes FIRST_SEED SEEDS */
#include "reductions_check.h"

enum { most_fields = 3, space = 128, modulus = 127, shift = 14 };

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

/* Elements of a result that are not what its ranks make of theirs. */
static int wrong_elements(char* result, struct results its) {
    int wrong = 0;
    for (int i = 0; i < its.count; ++i) {
        for (int f = 0; f < element.fields; ++f) {
            int expected = operand(0, its.first + i, f);
            for (int of_rank = 1; of_rank < its.end; ++of_rank)
                expected = combined(expected, operand(of_rank, its.first + i, f));
            if (*field(result, i, f) != expected) {
                ++wrong;
                break;
            }
        }
    }
    return wrong;
}

static int wrong_results(int drawn_by, MPI_Datatype type, MPI_Op op) {
    const struct place here = place_on(MPI_COMM_WORLD);
    const int count = rand() % 4 == 0 ? 3000 + rand() % 3000 : 1 + rand() % 50;
    const int root = drawn_by % world_size;
    const size_t bytes = (size_t)((long)count * world_size * element.extent) + 2 * space;
    char* const mine = malloc(bytes);
    char* const result = malloc(bytes);
    int all_wrong = 0;
    memset(mine, 0x55, bytes);
    for (long i = 0; i < (long)count * world_size; ++i)
        for (int f = 0; f < element.fields; ++f) *field(mine + space, i, f) = operand(world_rank, i, f);
    for (const struct collective* it = collectives; it < collectives + collective_count; ++it) {
        for (int turn = 0; turn < 2 && it->reduces && !it->uneven; ++turn) {
            const int in_place = turn && (it->run != reduce || world_rank == root);
            if (in_place) memcpy(result, mine, bytes); else memset(result, 0x33, bytes);
            const struct arguments a = {
                {in_place ? MPI_IN_PLACE : mine + space, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL},
                {result + space, count, type, NULL, NULL, NULL}, op, root, here.comm, 0};
            call(it, &a);
            const int wrong = wrong_elements(result + space, results_of(here, it, count, root, NULL));
            if (wrong > 0) {
                fprintf(stderr, "seed %d, %s%s, rank %d: %d elements wrong (lower bound %ld, extent %ld)\n", drawn_by,
                        it->name, in_place ? " in place" : "", world_rank, wrong, element.lower, element.extent);
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
    for (int number = atoi(argv[1]), last = number + atoi(argv[2]); number < last; ++number) {
        srand((unsigned)number);
        MPI_Datatype type = drawn_type();
        MPI_Op op;
        MPI_Op_create(combine, element.commutes, &op);
        wrong += wrong_results(number, type, op);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(wrong == 0, "wrong results", wrong);
    end("");
    return 0;
}
