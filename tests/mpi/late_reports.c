/* Two communicators of all ranks, one after the other, that end before anybody looks at what rank 1 took for the last
 * calls; on the first one it had to wait. */
#include "checked.h"

static void barriers(const char* name, unsigned late_us) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    for (int call = 0; call < 5; ++call) { /* the last two are clocked, and told */
        if (call == 4 && world_rank == 0) {
            usleep(late_us);
        }
        MPI_Barrier(comm);
    }
    usleep(100000);
    for (int call = 0; late_us == 0 && call < 2; ++call) { /* in which rank 0 looks */
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    for (int i = 0; i < 100; ++i) { /* until the ranks know each other */
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(5000);
    }
    barriers("waited", 200000);
    for (int i = 0; i < 100; ++i) { /* until it is forgotten */
        broadcasts_checked(MPI_COMM_WORLD, 8);
        usleep(5000);
    }
    barriers("did not wait", 0);
    end("");
    return 0;
}
