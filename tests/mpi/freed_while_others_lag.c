/* Rank 0 broadcasts on a duplicate and frees it at once, while the others come later: what the library has under way on
 * it outlives it there. */
#include "checked.h"

/* What was there is overwritten. */
static void use_freed_memory(void) {
    for (size_t bytes = 16; bytes <= 4096; bytes += 16) {
        for (int i = 0; i < 20; ++i) {
            void* const block = malloc(bytes);
            expect(block != NULL, "out of memory", i);
            memset(block, 0xa5, bytes);
        }
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    for (int round = 0; round < 3; ++round) {
        MPI_Comm duplicate;
        int number = world_rank;
        MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
        if (world_rank > 0) {
            usleep(200000);
        }
        for (int i = 0; i < 2; ++i) {
            MPI_Bcast(&number, 1, MPI_INT, 0, duplicate);
        }
        MPI_Comm_free(&duplicate);
        use_freed_memory();
        expect(number == 0, "another number", number);
        for (int i = 0; i < 100; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    end("ok");
    return 0;
}
