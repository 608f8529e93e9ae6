/* Round trips between two ranks, as all programs of this folder make them, in C, Java and Python:
 *
 *     --sizes BYTES,...  --trips N
 *
 * For each size N timed round trips. In each of them rank 0 writes a new number at both ends of the
 * message and rank 1 adds one to it, so that an answer cannot be an old one; a wrong byte ends the job with
 * exit code 1. Rank 0 prints a line for each size:
 *
 *     ping-pong BYTES NS NS ...    (whole round trips in the order in which they were made)
 */
#include "../measuring.h"

const char program_name[] = "ping_pong";
const char program_usage[] = "--sizes BYTES,... --trips N, with two ranks";

enum { most_bytes = 1 << 24, most_trips = 1000000 };

static void send(const unsigned char* data, int bytes) {
    MPI_Send(data, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
}

static void receive(unsigned char* data, int bytes) {
    MPI_Status status;
    MPI_Recv(data, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &status);
}

static double ping(unsigned char* data, int bytes, int trip) {
    const unsigned char stamp = (unsigned char)(2 * trip);
    data[0] = data[bytes - 1] = stamp;
    const double begin_ms = now_ms();
    send(data, bytes);
    receive(data, bytes);
    const double took_ns = (now_ms() - begin_ms) * 1e6;
    const unsigned char answer = (unsigned char)(stamp + 1);
    if (data[0] != answer || data[bytes - 1] != answer) {
        const int index = data[0] == answer ? bytes - 1 : 0;
        fprintf(stderr, "ping_pong: wrong bytes came back (%d bytes, at %d)\n", bytes, index);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return took_ns;
}

static void pong(unsigned char* data, int bytes) {
    receive(data, bytes);
    ++data[0];
    if (bytes > 1) {
        ++data[bytes - 1];
    }
    send(data, bytes);
}

static void run_size(unsigned char* data, int bytes, double* times_ns, int trips) {
    if (rank == 1) {
        for (int trip = 0; trip < trips; ++trip) {
            pong(data, bytes);
        }
        return;
    }
    for (int trip = 0; trip < trips; ++trip) {
        times_ns[trip] = ping(data, bytes, trip);
    }
    printf("ping-pong %d", bytes);
    for (int trip = 0; trip < trips; ++trip) {
        printf(" %.0f", times_ns[trip]);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char** argv) {
    int sizes[most_values];
    start_mpi(&argc, &argv);
    if (size != 2 || argc != 5 || strcmp(argv[1], "--sizes") != 0 || strcmp(argv[3], "--trips") != 0) {
        fail("wrong words", "");
    }
    const int count = parse_list(argv[2], 1, most_bytes, sizes), trips = parse_one(argv[4], 1, most_trips);
    unsigned char* const data = room_for(most_bytes);
    double* const times_ns = room_for((size_t)trips * sizeof *times_ns);
    for (int i = 0; i < count; ++i) {
        run_size(data, sizes[i], times_ns, trips);
    }
    free(data);
    free(times_ns);
    MPI_Finalize();
    return 0;
}
