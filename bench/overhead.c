/* Processor time per call, in ns: of a repeated MPI_Bcast of --bytes, of the same binomial tree written
 * by hand, of both with two communicators and two lengths in turn, of a broadcast on MPI_COMM_SELF, which
 * mutirao does not handle, and of MPI_Allreduce and MPI_Allgather beside recursive doubling by hand, where
 * the ranks are a power of two. Processor time, not wall time, since it is what a preload library adds
 * and what a shared machine repeats. The arms take turns in --rounds of --calls each; per arm the median
 * over the rounds of the mean over the ranks is printed, as one JSON line. */
#include "measuring.h"

const char program_name[] = "overhead";
const char program_usage[] = "[--bytes N] [--calls N] [--rounds N]";

enum { most_bytes = 65536, most_rounds = 1000, most_children = 32 };

struct place { /* of a communicator's calls; broadcasts are from rank 0 */
    MPI_Comm comm;
    int bytes;
};

struct arm {
    const char* name;
    void (*call)(char* data, const struct place* place);
    struct place places[2]; /* in turn */
    double ns[most_rounds];
};

static void by_mpi(char* data, const struct place* place) {
    MPI_Bcast(data, place->bytes, MPI_BYTE, 0, place->comm);
}

/* What a program would write that knows nothing but point-to-point. */
static void by_hand(char* data, const struct place* place) {
    MPI_Request sends[most_children];
    MPI_Status statuses[most_children]; /* to ignore them is a warning with MPICH 4 */
    int me, ranks, child_count = 0, bit = 1;
    MPI_Comm_rank(place->comm, &me);
    MPI_Comm_size(place->comm, &ranks);
    while (bit < ranks && (me & bit) == 0) {
        bit <<= 1;
    }
    if (me != 0) {
        MPI_Recv(data, place->bytes, MPI_BYTE, me - bit, 0, place->comm, MPI_STATUS_IGNORE);
    }
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (me + bit < ranks) {
            MPI_Isend(data, place->bytes, MPI_BYTE, me + bit, 0, place->comm,
                      &sends[child_count++]);
        }
    }
    MPI_Waitall(child_count, sends, statuses);
}

static char* result; /* of a block from every rank, and one more */

static void allreduce_by_mpi(char* data, const struct place* place) {
    MPI_Allreduce(data, result, place->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, place->comm);
}

static void allgather_by_mpi(char* data, const struct place* place) {
    MPI_Allgather(data, place->bytes, MPI_BYTE, result, place->bytes, MPI_BYTE, place->comm);
}

/* To and from one partner at once. */
static void exchange(const char* to, char* from, int bytes, int partner, MPI_Comm comm) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(from, bytes, MPI_BYTE, partner, 0, comm, &requests[0]);
    MPI_Isend(to, bytes, MPI_BYTE, partner, 0, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

static void allreduce_by_hand(char* data, const struct place* place) {
    double* const sums = (double*)result;
    const double* const theirs = (const double*)(result + place->bytes);
    int me, ranks;
    MPI_Comm_rank(place->comm, &me);
    MPI_Comm_size(place->comm, &ranks);
    memcpy(sums, data, (size_t)place->bytes);
    for (int bit = 1; bit < ranks; bit <<= 1) {
        exchange(result, result + place->bytes, place->bytes, me ^ bit, place->comm);
        for (int i = 0; i < place->bytes / (int)sizeof(double); ++i) {
            sums[i] += theirs[i];
        }
    }
}

static void allgather_by_hand(char* data, const struct place* place) {
    int me, ranks;
    MPI_Comm_rank(place->comm, &me);
    MPI_Comm_size(place->comm, &ranks);
    const size_t bytes = (size_t)place->bytes;
    memcpy(result + (size_t)me * bytes, data, bytes);
    for (int bit = 1; bit < ranks; bit <<= 1) {
        const int mine = me & ~(bit - 1), partners = mine ^ bit;
        exchange(result + (size_t)mine * bytes, result + (size_t)partners * bytes, place->bytes * bit,
                 me ^ bit, place->comm);
    }
}

static double processor_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void repeat(const struct arm* arm, char* data, long calls) {
    for (long i = 0; i < calls; ++i) {
        arm->call(data, &arm->places[i % 2]);
    }
}

static double cost_ns(const struct arm* arm, char* data, long calls) {
    double mine, sum;
    repeat(arm, data, calls / 10 + 2);
    const double begin = processor_ns();
    repeat(arm, data, calls);
    mine = (processor_ns() - begin) / (double)calls;
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
    static char data[2 * most_bytes];
    int bytes = 8, calls = 100000, rounds = 10;
    MPI_Comm second, hand, second_hand;
    start_mpi(&argc, &argv);
    const struct option known[] = {{"--bytes", 0, most_bytes, &bytes, NULL, NULL},
                                   {"--calls", 1, INT32_MAX, &calls, NULL, NULL},
                                   {"--rounds", 1, most_rounds, &rounds, NULL, NULL}};
    take_options(1, argc, argv, known, sizeof known / sizeof *known);
    result = room_for(((size_t)size + 1) * ((size_t)bytes + 1));
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_dup(MPI_COMM_WORLD, &hand);
    MPI_Comm_dup(MPI_COMM_WORLD, &second_hand);
    struct arm arms[] = {
        {"self", by_mpi, {{MPI_COMM_SELF, bytes}, {MPI_COMM_SELF, bytes}}, {0}},
        {"world", by_mpi, {{MPI_COMM_WORLD, bytes}, {MPI_COMM_WORLD, bytes}}, {0}},
        {"by_hand", by_hand, {{hand, bytes}, {hand, bytes}}, {0}},
        {"in_turn", by_mpi, {{MPI_COMM_WORLD, bytes}, {second, 2 * bytes}}, {0}},
        {"in_turn_by_hand", by_hand, {{hand, bytes}, {second_hand, 2 * bytes}}, {0}},
        {"allreduce", allreduce_by_mpi, {{MPI_COMM_WORLD, bytes}, {MPI_COMM_WORLD, bytes}}, {0}},
        {"allreduce_by_hand", allreduce_by_hand, {{hand, bytes}, {hand, bytes}}, {0}},
        {"allgather", allgather_by_mpi, {{MPI_COMM_WORLD, bytes}, {MPI_COMM_WORLD, bytes}}, {0}},
        {"allgather_by_hand", allgather_by_hand, {{hand, bytes}, {hand, bytes}}, {0}},
    };
    const int arm_count = (int)(sizeof arms / sizeof *arms) - ((size & (size - 1)) == 0 ? 0 : 4);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < arm_count; ++i) {
            arms[i].ns[round] = cost_ns(&arms[i], data, calls);
        }
    }
    if (rank == 0) {
        printf("{\"bytes\":%d,\"calls\":%d,\"rounds\":%d", bytes, calls, rounds);
        for (int i = 0; i < arm_count; ++i) {
            printf(",\"%s_ns\":%.2f", arms[i].name, median(arms[i].ns, rounds));
        }
        printf("}\n");
    }
    MPI_Comm_free(&second);
    MPI_Comm_free(&hand);
    MPI_Comm_free(&second_hand);
    free(result);
    MPI_Finalize();
    return 0;
}
