/* pending_meanwhile: what is set up for many allreduces meets a receive that takes any message on the same communicator,
 * and a nonblocking barrier of another one, which the last rank enters only afterwards. */
#include "checked.h"

enum { calls = 600, tag = 7 };

int main(int argc, char** argv) {
    int received = -1, sum = 0;
    MPI_Request requests[2];
    MPI_Comm other;
    MPI_Status status;
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int last = world_rank == world_size - 1;
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    if (!last) {
        MPI_Ibarrier(other, &requests[1]);
    }
    for (int call = 0; call < calls; ++call) {
        const int mine = call + world_rank;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world_size * call + world_size * (world_size - 1) / 2, "wrong sum in call", call);
        int there = 0;
        if (call < calls - 1) {
            MPI_Test(&requests[0], &there, MPI_STATUS_IGNORE);
        }
        expect(!there, "somebody else's message after call", call);
    }
    if (last) {
        MPI_Ibarrier(other, &requests[1]);
    }
    const int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size;
    MPI_Send(&world_rank, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    expect(received == before && status.MPI_SOURCE == before && status.MPI_TAG == tag, "another message", received);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    end("");
    return 0;
}
