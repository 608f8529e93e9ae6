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

static void parse_kind(const char* word, struct call* call) {
    char name[64];
    const char* const colon = strchr(word, ':');
    const size_t length = colon == NULL ? 0 : (size_t)(colon - word);
    if (length == 0 || length >= sizeof name) {
        fail("NAME:BYTES is wanted, not", word);
    }
    memcpy(name, word, length);
    name[length] = '\0';
    const struct collective* const collective = find_collective(name);
    if (collective == NULL) {
        fail("unknown collective", name);
    }
    *call = make_call(collective, parse_one(colon + 1, 0, 1 << 24), 0);
}

/* Of a linear congruential generator (Knuth, MMIX). */
static unsigned next_random(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static void run_one(struct call* call, unsigned number) {
    const size_t expected_bytes = prepare_call(call, number);
    call->collective->run(call);
    check_bytes(call->output, call->expected, expected_bytes, call->root);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int kinds = argc - 2;
    if (kinds < 1 || kinds > most_kinds) {
        fail("the number of calls and up to 16 kinds of them are wanted", "");
    }
    const int calls = parse_one(argv[1], first_part, 100000000);
    struct call kind[most_kinds];
    for (int i = 0; i < kinds; ++i) {
        parse_kind(argv[i + 2], &kind[i]);
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
        run_one(&kind[next_random(&random) % (unsigned)kinds], (unsigned)i);
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
