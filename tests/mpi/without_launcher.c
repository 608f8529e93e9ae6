/* without_launcher: a rank that does not hear from its launcher of the others; they hear of it, and go on with it. */
#include "checked.h"

int main(int argc, char** argv) {
    begin(&argc, &argv);
    if (world_rank == 1) {
        unsetenv("PMIX_NAMESPACE");
    }
    for (int call = 0; call < 150; ++call) {
        int sum = 0;
        MPI_Allreduce(&call, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == call * world_size, "wrong sum", call);
    }
    end("");
    return 0;
}
