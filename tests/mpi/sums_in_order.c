/* Sums of doubles that depend on the order in which they are added: every result is compared, bit by bit,
 * with the operands added one after the other from rank 0 on. From the first call of the program on, and from
 * the first on communicators that it makes. Prints how many of the results came out otherwise. */
#include <math.h>

#include "reductions_check.h"

static long differences, results;

/* Of widely different size, so that almost every other order rounds otherwise. */
static double operand(int rank, int index, int with_seed) {
    unsigned state = (unsigned)(rank * 7919 + index * 104729 + with_seed * 1299709) * 2654435761u;
    state ^= state >> 15;
    state *= 2246822519u;
    state ^= state >> 13;
    return ldexp((double)(state % 100003) / 3.0, (int)(state >> 8) % 40 - 20);
}

static double sum_before(int end, int index, int with_seed) {
    double sum = operand(0, index, with_seed);
    for (int rank = 1; rank < end; ++rank) {
        sum += operand(rank, index, with_seed);
    }
    return sum;
}

static void compare(const double* found, int count, int from_index, int ranks, int with_seed) {
    for (int i = 0; i < count; ++i) {
        const double expected = sum_before(ranks, from_index + i, with_seed);
        differences += memcmp(&found[i], &expected, sizeof expected) != 0;
        ++results;
    }
}

static void compare_all(MPI_Comm comm, int count, int with_seed) {
    const struct place here = place_on(comm);
    const size_t bytes = sizeof(double) * (size_t)(count * here.size);
    double* const all = malloc(bytes);
    double* const sum = malloc(bytes);
    int counts[most_ranks];
    for (int i = 0; i < count * here.size; ++i) {
        all[i] = operand(here.rank, i, with_seed);
    }
    for (int rank = 0; rank < here.size; ++rank) {
        counts[rank] = rank % 2 == 0 ? count : 0;
    }
    for (const struct collective* it = collectives; it < collectives + collective_count; ++it) {
        const int roots = it->rooted ? here.size : 1;
        for (int turn = 0; it->reduces && turn < 2 * roots; ++turn) {
            const int root = turn / 2, in_place = turn % 2 && (it->run != reduce || here.rank == root);
            const struct arguments a = {{in_place ? MPI_IN_PLACE : all, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL},
                                        {sum, count, MPI_DOUBLE, counts, NULL, NULL},
                                        MPI_SUM, root, comm, 0};
            memcpy(sum, all, bytes);
            call(it, &a);
            const struct results its = results_of(here, it, count, root, counts);
            compare(sum, its.count, its.first, its.end, with_seed);
        }
    }
    free(sum);
    free(all);
}

int main(int argc, char** argv) {
    static const int counts[] = {1, 5, 1000, 20011};
    MPI_Comm copy, part;
    char text[80];
    begin(&argc, &argv);
    for (int i = 0; i < 4; ++i) {
        compare_all(MPI_COMM_WORLD, counts[i], i);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 1, -world_rank, &part);
    for (int i = 0; i < 3; ++i) {
        compare_all(copy, counts[i], 10 + i);
        compare_all(part, counts[i], 20 + i);
    }
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
    long sums[2] = {differences, results}, totals[2];
    MPI_Reduce(sums, totals, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%ld of %ld differ", totals[0], totals[1]);
    end(text);
    return 0;
}
