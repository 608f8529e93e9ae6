/* no_more_communicators: a program that has made as many communicators as the MPI library allows, or 3000, then calls
 * allreduces. Rank 0 prints "ok none left" or "ok". */
#include "checked.h"

enum { most = 3000, calls = 600 };

int main(int argc, char** argv) {
    static MPI_Comm comms[most];
    int made = 0, sum = 0;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (made < most && MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS) {
        ++made;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int call = 0; call < calls; ++call) {
        const int mine = call + world_rank;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world_size * call + world_size * (world_size - 1) / 2, "wrong sum in call", call);
    }
    for (int i = 0; i < made; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    end(made < most ? "none left" : "");
    return 0;
}
