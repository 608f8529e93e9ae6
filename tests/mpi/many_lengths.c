/* many_lengths: long reductions of many lengths. What is kept of them must not grow with their number. */
#include "checked.h"

enum { lengths = 40, step = 1 << 14, most = (1 << 20) + lengths * step };

static long resident_bytes(void) {
    long whole = 0, resident = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    expect(file != NULL && fscanf(file, "%ld %ld", &whole, &resident) == 2, "no memory is told", 0);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    const long longest_bytes = (long)(most * sizeof(int));
    int* const from = malloc((size_t)longest_bytes);
    int* const to = malloc((size_t)longest_bytes);
    for (int i = 0; i < most; ++i) {
        from[i] = i % 1000 + world_rank;
        to[i] = 0;
    }
    MPI_Allreduce(from, to, 1 << 20, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const long before_bytes = resident_bytes();
    for (int number = 0; number < lengths; ++number) {
        const int count = (1 << 20) + number * step;
        MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i += 997) {
            expect(to[i] == world_size * (i % 1000) + world_size * (world_size - 1) / 2, "wrong sum", i);
        }
    }
    const long grown_bytes = resident_bytes() - before_bytes;
    expect(grown_bytes <= 2 * longest_bytes + (16L << 20), "memory has grown by so many KiB", grown_bytes >> 10);
    free(from);
    free(to);
    end("");
    return 0;
}
