/* empty_messages root|elsewhere: messages of no bytes that ranks spell differently: 3 elements of a
 * type of size zero on the root, or elsewhere, and count 0 on the others. The very first call is one.
 * Others in between must find their data. */
#include "checked.h"

int main(int argc, char** argv) {
    MPI_Datatype nothing;
    int three[3] = {-5, -6, -7};
    begin(&argc, &argv);
    const int on_root = argc == 2 && strcmp(argv[1], "root") == 0;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    for (int round = 0; round < 40; ++round) {
        const int root = round % world_size;
        const int by_type = (world_rank == root) == on_root;
        MPI_Bcast(three, by_type ? 3 : 0, by_type ? nothing : MPI_INT, root, MPI_COMM_WORLD);
        expect(three[0] == -5 && three[1] == -6 && three[2] == -7, "an empty message was written", round);
        if (round % 3 == 2) {
            broadcast_checked(MPI_COMM_WORLD, root, 10 + round, round);
        }
    }
    MPI_Type_free(&nothing);
    end("");
    return 0;
}
