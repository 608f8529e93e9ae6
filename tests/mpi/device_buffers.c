/* device_buffers: collectives on memory that no processor may touch, as a graphics card's is, but through the MPI
 * library's own MPI_Pack and MPI_Unpack. A small driver is preloaded (test_device_buffers.py) that has such memory;
 * ranks with odd numbers use memory of the host in the same calls. */
#include <dlfcn.h>

#include "checked.h"

enum { count = 300 };

static void* (*allocate)(size_t bytes);
static void (*transfer)(void* to, const void* from, size_t bytes);

static void look_up(const char* name, void* function) {
    void* const address = dlsym(RTLD_DEFAULT, name);
    expect(address != NULL, "the driver is not there", 0);
    memcpy(function, &address, sizeof address);
}

static int* buffer_of(int ints) {
    const size_t bytes = (size_t)ints * sizeof(int);
    return world_rank % 2 == 0 ? allocate(bytes) : malloc(bytes);
}

static void put(int* buffer, int ints, int first) {
    int* const values = malloc((size_t)ints * sizeof(int));
    for (int i = 0; i < ints; ++i) {
        values[i] = first + i;
    }
    transfer(buffer, values, (size_t)ints * sizeof(int));
    free(values);
}

static void expect_all(const int* buffer, int ints, int first, int step, const char* what) {
    int* const values = malloc((size_t)ints * sizeof(int));
    transfer(values, buffer, (size_t)ints * sizeof(int));
    for (int i = 0; i < ints; ++i) {
        expect(values[i] == first + step * i, what, i);
    }
    free(values);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    look_up("fake_device_allocate", &allocate);
    look_up("fake_device_transfer", &transfer);
    int* const mine = buffer_of(count);
    int* const all = buffer_of(count * world_size);
    for (int call = 0; call < 20; ++call) {
        const int root = call % world_size;
        put(mine, count, world_rank == root ? call : -1);
        MPI_Bcast(mine, count, MPI_INT, root, MPI_COMM_WORLD);
        expect_all(mine, count, call, 1, "wrong data broadcast");
        MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect_all(all, count, world_size * call, world_size, "wrong sum");
        MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect_all(mine, count, world_size * call, world_size, "wrong sum in place");
        put(mine, count, world_rank * count);
        MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
        expect_all(all, count * world_size, 0, 1, "wrong data gathered");
        put(all, count * world_size, 7);
        MPI_Scatter(all, count, MPI_INT, mine, count, MPI_INT, root, MPI_COMM_WORLD);
        expect_all(mine, count, 7 + world_rank * count, 1, "wrong data scattered");
    }
    end("");
    return 0;
}
