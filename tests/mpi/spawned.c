/* Parents that broadcast, spawn a child, and broadcast with it on the merged communicator. Most
 * launchers do not preload into the child what was preloaded into its parents. */
#include "checked.h"

static void with_the_other_side(MPI_Comm other_side, int high) {
    MPI_Comm merged, part;
    int rank, size;
    MPI_Intercomm_merge(other_side, high, &merged);
    MPI_Comm_size(merged, &size);
    MPI_Comm_rank(merged, &rank);
    broadcasts_checked(merged, 24);
    MPI_Comm_split(merged, 0, -rank, &part); /* turned round: a child leads */
    broadcasts_checked(part, 24);
    MPI_Comm_free(&part);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&other_side);
}

int main(int argc, char** argv) {
    MPI_Comm parent;
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        with_the_other_side(parent, 1);
        broadcasts_checked(MPI_COMM_WORLD, 4);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm child;
    broadcasts_checked(MPI_COMM_WORLD, 12);
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    with_the_other_side(child, 0);
    broadcasts_checked(MPI_COMM_WORLD, 12);
    end("");
    return 0;
}
