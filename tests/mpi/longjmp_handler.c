/* An error handler that jumps out of the failing broadcast, as handlers of C++ bindings throw. The
 * broadcasts after it must still be handled. */
#include <setjmp.h>

#include "checked.h"

static jmp_buf back;
static volatile int jumps;

static void jump(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

int main(int argc, char** argv) {
    MPI_Errhandler handler;
    int value = 0;
    begin(&argc, &argv);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int time = 0; time < 3; ++time) {
        if (setjmp(back) == 0) {
            MPI_Bcast(&value, 1, MPI_INT, world_size + 5, MPI_COMM_WORLD); /* no such root */
            fail("the handler was not called", jumps);
        }
        ++jumps;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    for (int time = 0; time < 100; ++time) {
        broadcasts_checked(MPI_COMM_WORLD, 4);
        usleep(2000);
    }
    end("");
    return 0;
}
