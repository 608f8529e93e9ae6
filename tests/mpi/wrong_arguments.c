/* Broadcasts with wrong arguments under MPI_ERRORS_RETURN. Prints what each rank was answered; after
 * each, a right one must arrive. `wrong_arguments alone`: one rank errs and then calls rightly, which
 * the others never see. */
#include "checked.h"

struct mistake {
    const char* name;
    void* buffer;
    int count;
    MPI_Datatype type;
    int root;
};

static void show(const char* name, int code) {
    int class_of_code = MPI_SUCCESS;
    int* const classes = malloc((size_t)world_size * sizeof *classes);
    MPI_Error_class(code, &class_of_code);
    MPI_Allgather(&class_of_code, 1, MPI_INT, classes, 1, MPI_INT, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("%s:", name);
        for (int i = 0; i < world_size; ++i) {
            printf(" %d", classes[i]);
        }
        printf("\n");
        fflush(stdout);
    }
    free(classes);
}

static void all_ranks(void) {
    static int data[64];
    MPI_Datatype uncommitted, gaps;
    MPI_Type_contiguous(4, MPI_INT, &uncommitted);
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    const struct mistake mistakes[] = {
        {"a type that is not committed", data, 2, uncommitted, 0},
        {"one with gaps that is not committed", data, 2, gaps, 0},
        {"no type", data, 2, MPI_DATATYPE_NULL, 0},
        {"a negative count", data, -1, MPI_INT, 0},
        {"a root too high", data, 2, MPI_INT, world_size},
        {"a root too low", data, 2, MPI_INT, -7},
        {"a type that is not committed, no elements", data, 0, uncommitted, 0},
        {"no buffer, no elements", NULL, 0, MPI_INT, 0},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        const struct mistake* const each = &mistakes[i];
        show(each->name, MPI_Bcast(each->buffer, each->count, each->type, each->root, MPI_COMM_WORLD));
        broadcasts_checked(MPI_COMM_WORLD, 2);
    }
    MPI_Comm none = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    show("no communicator", MPI_Bcast(data, 1, MPI_INT, 0, none));
    MPI_Type_free(&uncommitted);
    MPI_Type_free(&gaps);
}

static void one_rank(void) {
    int value = 0;
    for (int time = 0; time < 40; ++time) {
        if (world_rank == time % world_size) {
            expect(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "no error", time);
            expect(MPI_Bcast(&value, 1, MPI_INT, -1, MPI_COMM_WORLD) != MPI_SUCCESS, "no error", time);
        }
        broadcast_checked(MPI_COMM_WORLD, time % world_size, 5, time);
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    broadcasts_checked(MPI_COMM_WORLD, 4);
    if (argc == 2 && strcmp(argv[1], "alone") == 0) {
        one_rank();
    } else {
        all_ranks();
    }
    broadcasts_checked(MPI_COMM_WORLD, 20);
    end("");
    return 0;
}
