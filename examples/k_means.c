// Finds clusters in a cloud of points by k-means. The points are drawn around four known centres with a
// seeded generator, so the program can say how far what it finds is from the truth.
//
// Every rank makes and keeps its share of the points. In each round rank 0 sends all ranks the centres
// (MPI_Bcast), each rank assigns its points to the nearest one, and the sums and the numbers of points are
// added up over all ranks (MPI_Allreduce), until no point goes to another cluster.
//
//   mpicc -O2 k_means.c -o k_means -lm
//   mutirao run -n 4 ./k_means
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLUSTERS = 4, POINTS = 200000, MOST_ROUNDS = 100 };

typedef struct {
    double x, y;
} Point;

static const Point truth[CLUSTERS] = {{0, 0}, {4, 1}, {1, 5}, {6, 6}};

// A number in [0, 1) that depends on the seed only (splitmix64), so that any number of ranks gets the same points.
static double uniform(uint64_t seed) {
    uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

// Point number i: a normal distribution with a standard deviation of 0.5 around one of the centres in turn.
static Point drawn(long i) {
    const double radius = 0.5 * sqrt(-2 * log(1 - uniform(2 * (uint64_t)i)));
    const double angle = 2 * acos(-1.0) * uniform(2 * (uint64_t)i + 1);
    const Point centre = truth[i % CLUSTERS];
    return (Point){centre.x + radius * cos(angle), centre.y + radius * sin(angle)};
}

static double distance(Point a, Point b) { return hypot(a.x - b.x, a.y - b.y); }

static int nearest(Point point, const Point* centres) {
    int best = 0;
    for (int k = 1; k < CLUSTERS; ++k) {
        if (distance(point, centres[k]) < distance(point, centres[best])) best = k;
    }
    return best;
}

// Assigns this rank's points and adds them up; returns how many went to another cluster.
static long assign(const Point* points, int* cluster, long count, const Point* centres, Point* sums, long* sizes) {
    long moved = 0;
    for (int k = 0; k < CLUSTERS; ++k) {
        sums[k] = (Point){0, 0};
        sizes[k] = 0;
    }
    for (long i = 0; i < count; ++i) {
        const int k = nearest(points[i], centres);
        moved += k != cluster[i];
        cluster[i] = k;
        sums[k].x += points[i].x;
        sums[k].y += points[i].y;
        ++sizes[k];
    }
    return moved;
}

static void add_over_all_ranks(void* values, int count, MPI_Datatype type) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, type, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long first = (long)POINTS * rank / ranks;
    const long count = (long)POINTS * (rank + 1) / ranks - first;
    Point* points = malloc((size_t)(count + 1) * sizeof *points);
    int* cluster = malloc((size_t)(count + 1) * sizeof *cluster);
    for (long i = 0; i < count; ++i) {
        points[i] = drawn(first + i);
        cluster[i] = -1;
    }

    Point centres[CLUSTERS], sums[CLUSTERS];
    long sizes[CLUSTERS], moved = 1;
    if (rank == 0) {
        for (int k = 0; k < CLUSTERS; ++k) centres[k] = drawn(k);  // the first points will do to begin with
    }
    int rounds = 0;
    while (moved > 0 && rounds < MOST_ROUNDS) {
        MPI_Bcast(centres, 2 * CLUSTERS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        moved = assign(points, cluster, count, centres, sums, sizes);
        add_over_all_ranks(sums, 2 * CLUSTERS, MPI_DOUBLE);
        add_over_all_ranks(sizes, CLUSTERS, MPI_LONG);
        add_over_all_ranks(&moved, 1, MPI_LONG);
        for (int k = 0; k < CLUSTERS; ++k) {
            if (sizes[k] > 0) centres[k] = (Point){sums[k].x / (double)sizes[k], sums[k].y / (double)sizes[k]};
        }
        ++rounds;
    }

    double farthest = 0;
    for (int k = 0; k < CLUSTERS; ++k) {
        farthest = fmax(farthest, distance(centres[k], truth[k]));
        if (rank == 0) printf("cluster of %ld points at (%.3f, %.3f)\n", sizes[k], centres[k].x, centres[k].y);
    }
    if (rank == 0) printf("after %d rounds; largest distance from the true centres: %.3f\n", rounds, farthest);
    if (farthest > 0.02) MPI_Abort(MPI_COMM_WORLD, 1);
    free(points);
    free(cluster);
    MPI_Finalize();
    return 0;
}
