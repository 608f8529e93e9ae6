/* Datatypes that MPI 4's large-count functions made, which MPI_Type_get_envelope refuses. Ranks
 * other than the root describe the same data plainly, and the other way round. */
#include "checked.h"

#if MPI_VERSION >= 4
enum { ints = 600 };

static void check(MPI_Datatype type, const char* name) {
    int data[ints];
    for (int call = 0; call < 2 * world_size; ++call) {
        const int root = call % world_size;
        for (int i = 0; i < ints; ++i) {
            data[i] = world_rank == root ? value_at(i, root, call) : -1;
        }
        if ((world_rank == root) == (call < world_size)) {
            MPI_Bcast(data, 1, type, root, MPI_COMM_WORLD);
        } else {
            MPI_Bcast(data, ints, MPI_INT, root, MPI_COMM_WORLD);
        }
        for (int i = 0; i < ints; ++i) {
            expect(data[i] == value_at(i, root, call), name, i);
        }
    }
}

static void check_and_free(MPI_Datatype type, const char* name) {
    MPI_Type_commit(&type);
    check(type, name);
    MPI_Type_free(&type);
}

int main(int argc, char** argv) {
    MPI_Datatype block, third, made;
    const MPI_Count lengths[2] = {ints / 2, ints / 2};
    const MPI_Count places[2] = {0, ints / 2};
    begin(&argc, &argv);
    MPI_Type_contiguous_c(ints, MPI_INT, &block);
    MPI_Type_contiguous_c(ints / 3, MPI_INT, &third);
    MPI_Type_dup(block, &made);
    check_and_free(made, "a dup of contiguous_c");
    MPI_Type_contiguous(3, third, &made);
    check_and_free(made, "contiguous of contiguous_c");
    MPI_Type_contiguous_c(3, third, &made);
    check_and_free(made, "contiguous_c of contiguous_c");
    MPI_Type_vector_c(ints / 4, 4, 4, MPI_INT, &made);
    check_and_free(made, "vector_c without gaps");
    MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made);
    check_and_free(made, "indexed_c without gaps");
    MPI_Type_create_resized_c(block, 0, ints * (MPI_Count)sizeof(int), &made);
    check_and_free(made, "resized_c to the same extent");
    check_and_free(block, "contiguous_c");
    MPI_Type_free(&third);
    end("");
    return 0;
}
#else
int main(int argc, char** argv) {
    begin(&argc, &argv);
    end("skipped: no large counts");
    return 0;
}
#endif
