/* Processor time per call, in ns: of a repeated MPI_Bcast of 8 bytes, of the same binomial tree written by hand, and of
 * a broadcast on MPI_COMM_SELF, which mutirao does not handle. Processor time, not wall time, since it is what a preload
 * library adds and what a shared machine repeats. The arms take turns in rounds of many calls each; per arm the median
 * over the rounds of the mean over the ranks is printed, as one JSON line. */
#include "measuring.h"

const char program_name[] = "overhead";
const char program_usage[] = "";

enum { bytes = 8, calls = 100000, rounds = 10, most_children = 32 };

struct arm {
    const char* name;
    void (*call)(MPI_Comm comm);
    MPI_Comm comm;
    double ns[rounds];
};

static char data[bytes];

static void by_mpi(MPI_Comm comm) { MPI_Bcast(data, bytes, MPI_BYTE, 0, comm); }

/* What a program would write that knows nothing but point-to-point. */
static void by_hand(MPI_Comm comm) {
    MPI_Request sends[most_children];
    MPI_Status statuses[most_children]; /* to ignore them is a warning with MPICH 4 */
    int me, ranks, child_count = 0, bit = 1;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    while (bit < ranks && (me & bit) == 0) {
        bit <<= 1;
    }
    if (me != 0) {
        MPI_Recv(data, bytes, MPI_BYTE, me - bit, 0, comm, MPI_STATUS_IGNORE);
    }
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (me + bit < ranks) {
            MPI_Isend(data, bytes, MPI_BYTE, me + bit, 0, comm, &sends[child_count++]);
        }
    }
    MPI_Waitall(child_count, sends, statuses);
}

static double processor_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void repeat(const struct arm* arm, long times) {
    for (long i = 0; i < times; ++i) {
        arm->call(arm->comm);
    }
}

static double cost_ns(const struct arm* arm) {
    double mine, sum;
    repeat(arm, calls / 10);
    const double begin = processor_ns();
    repeat(arm, calls);
    mine = (processor_ns() - begin) / calls;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / size;
}

static int ascending(const void* a, const void* b) {
    const double first = *(const double*)a, second = *(const double*)b;
    return (first > second) - (first < second);
}

static double median(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    MPI_Comm by_hands;
    MPI_Comm_dup(MPI_COMM_WORLD, &by_hands);
    struct arm arms[] = {{"self", by_mpi, MPI_COMM_SELF, {0}},
                         {"world", by_mpi, MPI_COMM_WORLD, {0}},
                         {"by_hand", by_hand, by_hands, {0}}};
    enum { arm_count = sizeof arms / sizeof *arms };
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < arm_count; ++i) {
            arms[i].ns[round] = cost_ns(&arms[i]);
        }
    }
    if (rank == 0) {
        for (int i = 0; i < arm_count; ++i) {
            printf("%s\"%s_ns\":%.2f", i == 0 ? "{" : ",", arms[i].name, median(arms[i].ns, rounds));
        }
        printf("}\n");
    }
    MPI_Comm_free(&by_hands);
    MPI_Finalize();
    return 0;
}
