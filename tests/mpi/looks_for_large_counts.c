/* looks_for_large_counts: a program that looks whether the functions with large counts are there, as mpi4py does, and
 * uses them if so. Every array that means nothing on a rank points nowhere. */
#include <dlfcn.h>
#include <limits.h>

#include "checked.h"

enum { most_ranks = 16 };

static void* const nowhere = (void*)8;

typedef int broadcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
typedef int gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, int,
                      MPI_Comm);
typedef int scatterv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                       int, MPI_Comm);
typedef int alltoallv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, const MPI_Count*,
                        const MPI_Aint*, MPI_Datatype, MPI_Comm);
typedef int reduce_scatter_c(const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op, MPI_Comm);

/* Null if there is none. */
static void look_up(const char* name, void* function) {
    void* const address = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &address, sizeof address);
}

static int value_of(int from, int to) { return from * 100 + to; }

/* What `from` has for each. */
static void fill(int* values, int from, int count) {
    for (int to = 0; to < count; ++to) {
        values[to] = value_of(from, to);
    }
}

static void of_blocks(gatherv_c* gatherv, scatterv_c* scatterv) {
    MPI_Count counts[most_ranks];
    MPI_Aint places[most_ranks];
    for (int rank = 0; rank < world_size; ++rank) {
        counts[rank] = 1;
        places[rank] = world_size - 1 - rank;
    }
    for (int root = 0; root < world_size; ++root) {
        const int is_root = world_rank == root;
        int mine = world_rank + 5, all[most_ranks] = {0};
        expect(gatherv(&mine, 1, MPI_INT, all, is_root ? counts : nowhere, is_root ? places : nowhere, MPI_INT, root,
                       MPI_COMM_WORLD) == MPI_SUCCESS, "a gather failed", root);
        for (int rank = 0; is_root && rank < world_size; ++rank) {
            expect(all[places[rank]] == rank + 5, "wrong data gathered", rank);
        }
        fill(all, root, world_size);
        expect(scatterv(all, is_root ? counts : nowhere, is_root ? places : nowhere, MPI_INT, &mine, 1, MPI_INT, root,
                        MPI_COMM_WORLD) == MPI_SUCCESS, "a scatter failed", root);
        expect(mine == value_of(root, world_size - 1 - world_rank), "wrong data scattered", root);
    }
}

static void of_all(alltoallv_c* alltoallv, reduce_scatter_c* reduce_scatter) {
    MPI_Count counts[most_ranks];
    MPI_Aint places[most_ranks];
    for (int rank = 0; rank < world_size; ++rank) {
        counts[rank] = 1;
        places[rank] = rank;
    }
    int from[most_ranks], to[most_ranks];
    fill(from, world_rank, world_size);
    alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
    alltoallv(MPI_IN_PLACE, nowhere, nowhere, MPI_DATATYPE_NULL, from, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int rank = 0; rank < world_size; ++rank) {
        expect(to[rank] == value_of(rank, world_rank) && from[rank] == to[rank], "wrong data exchanged", rank);
    }
    fill(from, world_rank, world_size);
    reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(to[0] == 100 * world_size * (world_size - 1) / 2 + world_size * world_rank, "wrong sum", to[0]);
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
    fill(from, 0, world_size);
    for (int rank = 0; rank < world_size; ++rank) {
        counts[rank] = 1;
        places[rank] = rank;
    }
    scatterv(from, is_first ? counts : nowhere, is_first ? places : nowhere, MPI_INT, &mine, 1, MPI_INT,
             is_first ? MPI_ROOT : 0, between);
    expect(is_first || mine == value_of(0, world_rank - 1), "wrong data scattered between groups", mine);
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
    gatherv_c* gatherv;
    scatterv_c* scatterv;
    alltoallv_c* alltoallv;
    reduce_scatter_c* reduce_scatter;
    look_up("MPI_Bcast_c", &broadcast);
    if (broadcast == NULL) {
        end("none");
        return 0;
    }
    look_up("MPI_Gatherv_c", &gatherv);
    look_up("PMPI_Scatterv_c", &scatterv);
    look_up("MPI_Alltoallv_c", &alltoallv);
    look_up("MPI_Reduce_scatter_c", &reduce_scatter);
    for (int call = 0; call < 3; ++call) {
        of_blocks(gatherv, scatterv);
        of_all(alltoallv, reduce_scatter);
    }
    between_groups(scatterv);
    too_large(broadcast);
    end("used");
    return 0;
}
