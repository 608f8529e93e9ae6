/* An error handler that jumps out of the failing broadcast, as handlers of C++ bindings throw, on one rank only. The
 * broadcasts after it must still be handled, from wherever on the stack they are called. */
#include <setjmp.h>

#include "checked.h"

static jmp_buf back;
static volatile int jumps;

static void jump(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

static void broadcast_from_below(int frames) {
    volatile char filled[100];
    for (size_t i = 0; i < sizeof filled; ++i) {
        filled[i] = (char)frames;
    }
    if (frames > 0) {
        broadcast_from_below(frames - 1);
    } else {
        broadcasts_checked(MPI_COMM_WORLD, 4);
    }
    filled[0] = filled[1];
}

int main(int argc, char** argv) {
    MPI_Errhandler handler;
    int value = 0;
    begin(&argc, &argv);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int time = 0; time < 3 && world_rank == 1; ++time) {
        if (setjmp(back) == 0) {
            MPI_Bcast(&value, 1, MPI_INT, world_size + 5, MPI_COMM_WORLD); /* no such root */
            fail("the handler was not called", jumps);
        }
        ++jumps;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    for (int time = 0; time < 100; ++time) {
        broadcast_from_below(50 - time % 50);
        usleep(2000);
    }
    end("");
    return 0;
}
