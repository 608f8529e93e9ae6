/* fast_root FILE: a root broadcasts 2000 times and then, outside MPI, waits for files that the others
 * write when they have all the data. What it has sent must arrive without its help. */
#include "checked.h"

enum { calls = 2000, length = 2000 };

static void wait_for(const char* path) {
    for (int tries = 0; access(path, F_OK) != 0; ++tries) {
        expect(tries < 2000, "the others never got what was broadcast", tries);
        usleep(10000);
    }
}

int main(int argc, char** argv) {
    static int data[length];
    char path[512];
    begin(&argc, &argv);
    expect(argc == 2, "usage: fast_root FILE", argc);
    for (int call = 0; call < calls; ++call) {
        if (call == calls / 2 && world_rank != 0) {
            usleep(300000);  // the root runs ahead as far as it can
        }
        data[0] = world_rank == 0 ? call : -1;
        data[length - 1] = world_rank == 0 ? ~call : -1;
        MPI_Bcast(data, length, MPI_INT, 0, MPI_COMM_WORLD);
        expect(data[0] == call && data[length - 1] == ~call, "wrong data", call);
    }
    for (int rank = 1; rank < world_size; ++rank) {
        snprintf(path, sizeof path, "%s.%d", argv[1], rank);
        if (world_rank == rank) {
            FILE* const file = fopen(path, "w");
            expect(file != NULL, "cannot write a file", rank);
            fclose(file);
        } else if (world_rank == 0) {
            wait_for(path);
        }
    }
    broadcasts_checked(MPI_COMM_WORLD, 4);
    end("");
    return 0;
}
