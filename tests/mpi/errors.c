/* errors WHAT [INTS]: programs that go on after an error of theirs. Mistakes that all ranks make at once are in
 * wrong_collectives.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <sys/mman.h>

#include "checked.h"

/* MPICH finds it out, and asks the handler of MPI_COMM_WORLD where nobody gave MPI_COMM_SELF one. */
static void call_on_freed_communicator(void) {
#ifdef MPICH_VERSION
    MPI_Comm communicator, freed;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    freed = communicator;
    MPI_Comm_free(&communicator);
    expect(MPI_Barrier(freed) != MPI_SUCCESS, "no error on a freed communicator", 0);
#endif
}

/* Under MPI_ERRORS_RETURN one rank errs and then calls rightly, which the others never see. */
static void wrong_arguments(void) {
    int value = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    broadcasts_checked(MPI_COMM_WORLD, 4);
    for (int time = 0; time < 40; ++time) {
        if (world_rank == time % world_size) {
            expect(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "no error", time);
            expect(MPI_Bcast(&value, 1, MPI_INT, -1, MPI_COMM_WORLD) != MPI_SUCCESS, "no error", time);
        }
        broadcast_checked(MPI_COMM_WORLD, time % world_size, 5, time);
    }
    broadcasts_checked(MPI_COMM_WORLD, 20);
    call_on_freed_communicator();
}

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

/* Whatever lay below on the stack stays as it is. */
static void broadcast_from_below_a_gap(void) {
    volatile char unused[20000];
    unused[0] = 0;
    broadcasts_checked(MPI_COMM_WORLD, 4);
    unused[0] = unused[0];
}

/* An error handler that jumps out of the failing broadcast, as handlers of C++ bindings throw, on one rank only. The
 * broadcasts after it must still be handled, from wherever on the stack they are called. */
static void longjmp_handler(void) {
    MPI_Errhandler handler;
    int value = 0;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int time = 0; time < 3 && world_rank == 1; ++time) {
        if (setjmp(back) == 0) {
            MPI_Bcast(&value, 1, MPI_INT, world_size + 5, MPI_COMM_WORLD); /* no such root */
            fail("the handler was not called", jumps);
        }
        ++jumps;
    }
    broadcast_from_below_a_gap();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    for (int time = 0; time < 100; ++time) {
        broadcast_from_below(50 - time % 50);
        usleep(2000);
    }
}

/* Fault tolerance (ULFM): instead of broadcasting, the root revokes the communicator. Ranks that wait
 * in the broadcast must learn so; the others' communicator goes on. */
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>

static void revoked(void) {
    for (int time = 0; time < 3; ++time) {
        MPI_Comm comm;
        int code = MPI_SUCCESS, data[300] = {0};
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        broadcasts_checked(comm, 20);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (world_rank == 0) {
            usleep(50000);
            MPIX_Comm_revoke(comm);
        } else {
            code = MPI_Bcast(data, 300, MPI_INT, 0, comm);
            MPI_Error_class(code, &code);
            expect(code == MPIX_ERR_REVOKED, "the broadcast ended otherwise", code);
        }
        MPI_Comm_free(&comm);
        broadcasts_checked(MPI_COMM_WORLD, 8);
    }
}
#else
static void revoked(void) { strcpy(said, "skipped: no fault tolerance"); }
#endif

enum { pattern = 0x5a, times = 4 };

/* With room for twice as many ints; the class of the error on this rank. */
static int faulty_call(unsigned char* room, int ints, int gaps, MPI_Comm comm) {
    MPI_Datatype type = MPI_INT;
    int class_of_code = MPI_SUCCESS;
    const int count = world_rank == 0 ? ints : ints / 2;
    if (gaps) {
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
        MPI_Type_commit(&type);
    }
    MPI_Error_class(MPI_Bcast(room, count, type, 0, comm), &class_of_code);
    if (gaps) {
        MPI_Type_free(&type);
    }
    return class_of_code;
}

static void show_classes(int class_of_code) {
    int classes[64];
    MPI_Allgather(&class_of_code, 1, MPI_INT, classes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; world_rank == 0 && i < world_size; ++i) {
        const char* const name = classes[i] == MPI_SUCCESS        ? "success"
                                 : classes[i] == MPI_ERR_TRUNCATE ? "truncated"
                                                                  : "other";
        printf("%s%s", name, i + 1 < world_size ? " " : "\n");
    }
}

/* The root sends twice as much as the others take, under MPI_ERRORS_RETURN. Prints the error classes that the ranks
 * were given. The program goes on; what it unmaps or fills with a pattern right after the call must not be written any
 * more. */
static void too_long(int gaps) {
    unsigned char* rooms[times];
    const int ints = atoi(use_word);
    const size_t length = (size_t)ints * 2 * sizeof(int);
    broadcasts_checked(MPI_COMM_WORLD, 4);
    for (int time = 0; time < times; ++time) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        broadcasts_checked(comm, 4);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        rooms[time] = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        expect(rooms[time] != MAP_FAILED, "no memory", (long)length);
        const int class_of_code = faulty_call(rooms[time], ints, gaps, comm);
        memset(rooms[time], pattern, length);
        if (time % 2) {
            munmap(rooms[time], length);
        }
        show_classes(class_of_code);
        broadcasts_checked(MPI_COMM_WORLD, 8);
        MPI_Comm_free(&comm);
    }
    for (int time = 0; time < times; time += 2) {
        for (size_t i = 0; i < length; ++i) {
            expect(rooms[time][i] == pattern, "written after the call had returned", (long)i);
        }
    }
}

static void too_long_message(void) { too_long(0); }
static void too_long_message_with_gaps(void) { too_long(1); }

int main(int argc, char** argv) {
    static const struct use uses[] = {{"wrong_arguments", wrong_arguments},
                                      {"longjmp_handler", longjmp_handler},
                                      {"revoked", revoked},
                                      {"too_long_message", too_long_message},
                                      {"too_long_message_with_gaps", too_long_message_with_gaps},
                                      {NULL, NULL}};
    return run_use(argc, argv, uses);
}
