/* An ordinary MPI program of many short collectives of several kinds, in a random order that is the same in every
 * run: what does a whole run take, with everything that a library tries on the way?
 *
 * Each result is compared with what must arrive. The first tenth of the calls, and all of them, are timed from
 * rank 0's first call until every rank has left the last one. One JSON line from rank 0.
 */
#include "collectives.h"

const char program_name[] = "mixed";
const char program_usage[] = "CALLS NAME:BYTES ...";

enum { most_kinds = 16, first_part = 10 };

static void run_one(struct call* call, unsigned number) {
    const size_t expected_bytes = prepare_call(call, number);
    call->collective->run(call);
    check_bytes(call->output, call->expected, expected_bytes, call->root);
}

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    const int kinds = argc - 2;
    if (kinds < 1 || kinds > most_kinds) {
        fail("the number of calls and up to 16 kinds of them are wanted", "");
    }
    const int calls = parse_one(argv[1], first_part, 100000000);
    struct call kind[most_kinds];
    for (int i = 0; i < kinds; ++i) {
        char name[most_name];
        const char* const bytes = split_word(argv[i + 2], name, "NAME:BYTES is wanted, not");
        kind[i] = call_named(name, bytes);
    }
    agree_on_clock();
    uint64_t random = 1;
    double first_ms = 0;
    latest_at(0, 0);
    const double begin = now_ms();
    for (int i = 0; i < calls; ++i) {
        if (i == calls / first_part) {
            first_ms = latest_at(0, now_ms()) - begin;
        }
        run_one(&kind[(int)(next_random(&random) * kinds)], (unsigned)i);
    }
    const double whole_ms = latest_at(0, now_ms()) - begin;
    if (rank == 0) {
        printf("{\"calls\":%d,\"first_tenth_ms\":%.3f,\"whole_ms\":%.3f}\n", calls, first_ms, whole_ms);
    }
    for (int i = 0; i < kinds; ++i) {
        free_call(&kind[i]);
    }
    MPI_Finalize();
    return 0;
}
