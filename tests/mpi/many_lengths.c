/* many_lengths: long reductions of many lengths. What is kept of them must not grow with their number. */
#include "checked.h"

enum { lengths = 40, step = 1 << 14, most = (1 << 20) + lengths * step };

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
    const long before_kib = resident_kib();
    for (int number = 0; number < lengths; ++number) {
        const int count = (1 << 20) + number * step;
        MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i += 997) {
            expect(to[i] == world_size * (i % 1000) + world_size * (world_size - 1) / 2, "wrong sum", i);
        }
    }
    const long grown_kib = resident_kib() - before_kib;
    expect(grown_kib <= 2 * (longest_bytes >> 10) + (16 << 10), "memory has grown by so many KiB", grown_kib);
    free(from);
    free(to);
    end("");
    return 0;
}
