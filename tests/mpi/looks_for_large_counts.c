/* looks_for_large_counts: a program that looks whether the functions with large counts are there, as mpi4py does, and
 * uses them if so. Every array that means nothing on a rank points nowhere. */
#include <dlfcn.h>
#include <limits.h>

#include "checked.h"

enum { most_ranks = 16 };

static void* const nowhere = (void*)8;

typedef int broadcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
typedef int scatterv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                       int, MPI_Comm);

/* Null if there is none. */
static void look_up(const char* name, void* function) {
    void* const address = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &address, sizeof address);
}

/* From the first rank to all others. */
static void between_groups(scatterv_c* scatterv) {
    const int is_first = world_rank == 0;
    MPI_Comm group, between;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 7, &between);
    MPI_Count counts[most_ranks];
    MPI_Aint places[most_ranks];
    int from[most_ranks], mine = -1;
    for (int rank = 0; rank < world_size; ++rank) {
        from[rank] = 100 + rank;
        counts[rank] = 1;
        places[rank] = rank;
    }
    scatterv(from, is_first ? counts : nowhere, is_first ? places : nowhere, MPI_INT, &mine, 1, MPI_INT,
             is_first ? MPI_ROOT : 0, between);
    expect(is_first || mine == 100 + world_rank - 1, "wrong data scattered between groups", mine);
    MPI_Comm_free(&between);
    MPI_Comm_free(&group);
}

static void too_large(broadcast_c* broadcast) {
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char byte = 0;
    const int error = broadcast(&byte, (MPI_Count)INT_MAX + 1, nothing, 0, MPI_COMM_WORLD);
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    expect(version >= 4 ? class == MPI_SUCCESS : class == MPI_ERR_COUNT, "an error that is none, or none", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&nothing);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    broadcast_c* broadcast;
    scatterv_c* scatterv;
    look_up("MPI_Bcast_c", &broadcast);
    look_up("PMPI_Scatterv_c", &scatterv);
    if (broadcast == NULL) {
        end("none");
        return 0;
    }
    for (int root = 0; root < world_size; ++root) {
        int value = world_rank == root ? root : -1;
        broadcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        expect(value == root, "wrong data broadcast", value);
    }
    between_groups(scatterv);
    too_large(broadcast);
    end("used");
    return 0;
}
