/* right_after_init WHAT: what a program may do at its first moment, by ranks that are not in step:
 * nothing | duplicates | nonblocking_duplicates | parts | all */
#include "checked.h"

static void nap(int step) { usleep((useconds_t)((world_rank * 7 + step * 13) % 5 * 1500)); }

static void duplicates(void) {
    for (int round = 0; round < 5; ++round) {
        MPI_Comm made;
        nap(round);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        broadcasts_checked(made, 5);
        nap(round + 2);
        MPI_Comm_free(&made);
    }
}

static void nonblocking_duplicates(void) {
    for (int round = 0; round < 5; ++round) {
        MPI_Comm first, second;
        MPI_Request requests[2];
        nap(round);
        MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]);
        broadcasts_checked(MPI_COMM_WORLD, 9);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Comm_idup(first, &second, &requests[1]);
        broadcasts_checked(MPI_COMM_WORLD, 9);
        broadcasts_checked(first, 9); /* its 2nd, 4th and 8th call, while it is being duplicated */
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        broadcasts_checked(second, 5);
        MPI_Comm_free(&first);
        MPI_Comm_free(&second);
    }
}

static void parts(void) {
    for (int round = 0; round < 5; ++round) {
        MPI_Comm part, again, most;
        nap(round);
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
        broadcasts_checked(part, 5);
        MPI_Comm_dup(part, &again);
        MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 0, world_rank, &most);
        if (most != MPI_COMM_NULL) {
            broadcasts_checked(most, 5);
            MPI_Comm_free(&most);
        }
        broadcasts_checked(again, 5);
        MPI_Comm_free(&part);
        MPI_Comm_free(&again);
    }
}

static void nothing(void) {}

static void all(void) {
    parts();
    duplicates();
    nonblocking_duplicates();
}

int main(int argc, char** argv) {
    static const struct use uses[] = {{"nothing", nothing},
                                      {"parts", parts},
                                      {"duplicates", duplicates},
                                      {"nonblocking_duplicates", nonblocking_duplicates},
                                      {"all", all},
                                      {NULL, NULL}};
    begin(&argc, &argv);
    use_named(argc, argv, uses)->run();
    end("");
    return 0;
}
