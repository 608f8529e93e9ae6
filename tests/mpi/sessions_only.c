/* A program that never calls MPI_Init: its communicators come from sessions of MPI 4. The second one
 * outlives the session that the first came from. */
#include "checked.h"

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
static MPI_Comm communicator_of(MPI_Session session, const char* tag) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

int main(void) {
    MPI_Session first, second;
    end_within(25);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    MPI_Comm one = communicator_of(first, "one");
    MPI_Comm_rank(one, &world_rank);
    MPI_Comm_size(one, &world_size);
    broadcasts_checked(one, 20);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Comm two = communicator_of(second, "two");
    broadcasts_checked(two, 20);
    MPI_Comm_free(&one);
    MPI_Session_finalize(&first);
    broadcasts_checked(two, 20);
    MPI_Comm_free(&two);
    MPI_Session_finalize(&second);
    if (world_rank == 0) {
        printf("ok %d ranks\n", world_size);
    }
    return 0;
}
#else
int main(int argc, char** argv) {
    begin(&argc, &argv);
    end("skipped: no sessions");
    return 0;
}
#endif
