/* Sums of doubles that depend on the order in which they are added: every result is compared, bit by bit,
 * with the operands added one after the other from rank 0 on. From the first call of the program on, and from
 * the first on communicators that it makes. Prints how many of the results came out otherwise. */
#include <math.h>

#include "checked.h"

static long differences, results;

/* Of widely different size, so that almost every other order rounds otherwise. */
static double operand(int rank, int index, int seed) {
    unsigned state = (unsigned)(rank * 7919 + index * 104729 + seed * 1299709) * 2654435761u;
    state ^= state >> 15;
    state *= 2246822519u;
    state ^= state >> 13;
    return ldexp((double)(state % 100003) / 3.0, (int)(state >> 8) % 40 - 20);
}

static double sum_before(int end, int index, int seed) {
    double sum = operand(0, index, seed);
    for (int rank = 1; rank < end; ++rank) {
        sum += operand(rank, index, seed);
    }
    return sum;
}

static void compare(const double* found, int count, int from_index, int ranks, int seed) {
    for (int i = 0; i < count; ++i) {
        const double expected = sum_before(ranks, from_index + i, seed);
        differences += memcmp(&found[i], &expected, sizeof expected) != 0;
        ++results;
    }
}

static void check(MPI_Comm comm, int count, int seed) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    double* const all = malloc(sizeof(double) * (size_t)(count * size));
    double* const sum = malloc(sizeof(double) * (size_t)(count * size));
    int* const counts = malloc(sizeof(int) * (size_t)size);
    int mine = 0;
    for (int i = 0; i < count * size; ++i) {
        all[i] = operand(rank, i, seed);
    }
    MPI_Allreduce(all, sum, count, MPI_DOUBLE, MPI_SUM, comm);
    compare(sum, count, 0, size, seed);
    memcpy(sum, all, sizeof(double) * (size_t)count);
    MPI_Allreduce(MPI_IN_PLACE, sum, count, MPI_DOUBLE, MPI_SUM, comm);
    compare(sum, count, 0, size, seed);
    for (int root = 0; root < size; ++root) {
        MPI_Reduce(all, sum, count, MPI_DOUBLE, MPI_SUM, root, comm);
        compare(sum, rank == root ? count : 0, 0, size, seed);
    }
    MPI_Reduce_scatter_block(all, sum, count, MPI_DOUBLE, MPI_SUM, comm);
    compare(sum, count, rank * count, size, seed);
    for (int i = 0; i < size; ++i) {
        counts[i] = i % 2 == 0 ? count : 0;
        mine += i < rank ? counts[i] : 0;
    }
    MPI_Reduce_scatter(all, sum, counts, MPI_DOUBLE, MPI_SUM, comm);
    compare(sum, counts[rank], mine, size, seed);
    MPI_Scan(all, sum, count, MPI_DOUBLE, MPI_SUM, comm);
    compare(sum, count, 0, rank + 1, seed);
    MPI_Exscan(all, sum, count, MPI_DOUBLE, MPI_SUM, comm);
    compare(sum, rank == 0 ? 0 : count, 0, rank, seed);
    free(counts);
    free(sum);
    free(all);
}

int main(int argc, char** argv) {
    static const int counts[] = {1, 5, 1000, 20011};
    MPI_Comm copy, part;
    char text[80];
    begin(&argc, &argv);
    for (int i = 0; i < 4; ++i) {
        check(MPI_COMM_WORLD, counts[i], i);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 1, -world_rank, &part);
    for (int i = 0; i < 3; ++i) {
        check(copy, counts[i], 10 + i);
        check(part, counts[i], 20 + i);
    }
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
    long sums[2] = {differences, results}, totals[2];
    MPI_Reduce(sums, totals, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%ld of %ld differ", totals[0], totals[1]);
    end(text);
    return 0;
}
