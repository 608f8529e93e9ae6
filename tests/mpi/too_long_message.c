/* too_long_message INTS [gaps]: the root sends twice as much as the others take, under
 * MPI_ERRORS_RETURN. Prints the error classes that the ranks were given. The program goes on; what
 * it unmaps or fills with a pattern right after the call must not be written any more. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "checked.h"

enum { pattern = 0x5a, times = 4 };

struct room {
    unsigned char* bytes;
    size_t length;
};

static struct room take(size_t length) {
    struct room room = {NULL, length};
    room.bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(room.bytes != MAP_FAILED, "no memory", (long)length);
    return room;
}

/* The class of the error on this rank. */
static int faulty_call(struct room room, int ints, int gaps, MPI_Comm comm) {
    MPI_Datatype type = MPI_INT;
    int class_of_code = MPI_SUCCESS;
    const int count = world_rank == 0 ? ints : ints / 2;
    if (gaps) {
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
        MPI_Type_commit(&type);
    }
    memset(room.bytes, 1, room.length);
    MPI_Error_class(MPI_Bcast(room.bytes, count, type, 0, comm), &class_of_code);
    if (gaps) {
        MPI_Type_free(&type);
    }
    return class_of_code;
}

static void show(int class_of_code) {
    int classes[64];
    MPI_Allgather(&class_of_code, 1, MPI_INT, classes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; world_rank == 0 && i < world_size; ++i) {
        const char* const name = classes[i] == MPI_SUCCESS        ? "success"
                                 : classes[i] == MPI_ERR_TRUNCATE ? "truncated"
                                                                  : "other";
        printf("%s%s", name, i + 1 < world_size ? " " : "\n");
    }
}

int main(int argc, char** argv) {
    struct room rooms[times];
    begin(&argc, &argv);
    expect(argc >= 2 && world_size <= 64, "usage: too_long_message INTS [gaps]", argc);
    const int ints = atoi(argv[1]);
    const int gaps = argc > 2;
    broadcasts_checked(MPI_COMM_WORLD, 4);
    for (int time = 0; time < times; ++time) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        broadcasts_checked(comm, 4);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        rooms[time] = take((size_t)ints * 2 * sizeof(int));
        const int class_of_code = faulty_call(rooms[time], ints, gaps, comm);
        memset(rooms[time].bytes, pattern, rooms[time].length);
        if (time % 2) {
            munmap(rooms[time].bytes, rooms[time].length);
        }
        show(class_of_code);
        broadcasts_checked(MPI_COMM_WORLD, 8);
        MPI_Comm_free(&comm);
    }
    for (int time = 0; time < times; time += 2) {
        for (size_t i = 0; i < rooms[time].length; ++i) {
            expect(rooms[time].bytes[i] == pattern, "written after the call had returned", (long)i);
        }
    }
    end("");
    return 0;
}
