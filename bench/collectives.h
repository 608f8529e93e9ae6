/* The collectives: how each is called, and what must arrive.
 *
 * A call's length is that of the message, or of one block where there is one for every rank. The forms with
 * a count for each rank are called with blocks as long as one another, and so compare with the others.
 * Reductions add doubles where the length is a multiple of 8, and combine bytes by exclusive or
 * otherwise; the doubles are small whole numbers, so that their sum is the same in any order. */
#ifndef MUTIRAO_BENCH_COLLECTIVES_H
#define MUTIRAO_BENCH_COLLECTIVES_H

#include "functions.h"
#include "measuring.h"

/* What a rank hands over, or gets. */
enum part { nothing, message, block_per_rank };

/* Whose operands a rank gets combined. */
enum reduction { no_reduction, of_all, up_to_mine, before_mine };

struct call {
    const struct collective* collective;
    int length;
    int root;
    MPI_Datatype type;
    int count;
    MPI_Op op;
    /* Of one block for each rank, one behind another: where they begin in elements and in bytes. */
    int* counts;
    int* places;
    int* offsets;
    MPI_Datatype* types;
    unsigned round;
    unsigned char* input;
    unsigned char* output;
    unsigned char* expected;
    unsigned char* operand;
};

struct collective {
    const char* name;
    enum part gives, gets;
    int rooted;
    int from_root; /* the root alone gives anything */
    enum reduction reduces;
    void (*run)(const struct call* call);
};

static int in_blocks(const struct collective* collective) {
    return collective->gives == block_per_rank || collective->gets == block_per_rank;
}

static int adds_doubles(const struct call* call) {
    return call->type == MPI_DOUBLE;
}

static unsigned char* block_at(const struct call* call, unsigned char* data, int index) {
    return data + (size_t)index * (size_t)call->length;
}

/* What rank `from` gives as its block of this number. */
static void fill_block(const struct call* call, void* data, int from, int block) {
    const unsigned seed = call->round + (unsigned)from * 37u + (unsigned)block * 101u;
    if (!adds_doubles(call)) {
        fill(data, call->length, seed);
        return;
    }
    double* const values = data;
    for (int i = 0; i < call->count; ++i) {
        values[i] = pattern(i, seed);
    }
}

static void combine(const struct call* call, void* result, const void* operand) {
    double* const sums = result;
    const double* const terms = operand;
    unsigned char* const bytes = result;
    const unsigned char* const other_bytes = operand;
    for (int i = 0; i < call->count; ++i) {
        if (adds_doubles(call)) {
            sums[i] += terms[i];
        } else {
            bytes[i] ^= other_bytes[i];
        }
    }
}

/* Expects one block: what ranks 0 to ranks - 1 gave as their blocks of this number, combined. */
static int expect_combined(const struct call* call, int ranks, int block) {
    if (ranks == 0) {
        return 0;
    }
    fill_block(call, call->expected, 0, block);
    for (int from = 1; from < ranks; ++from) {
        fill_block(call, call->operand, from, block);
        combine(call, call->expected, call->operand);
    }
    return 1;
}

/* Expects of every rank the block of this number. */
static int expect_of_each(const struct call* call, int block) {
    for (int from = 0; from < size; ++from) {
        fill_block(call, block_at(call, call->expected, from), from, block);
    }
    return size;
}

/* Fills call->expected; returns of how many blocks, which is none where nothing is to arrive. */
static int expect(const struct call* call) {
    const struct collective* const collective = call->collective;
    const int block = collective->gives == block_per_rank ? rank : 0;
    if (collective->from_root) {
        fill_block(call, call->expected, call->root, block);
        return 1;
    }
    if (collective->gets == nothing || (collective->rooted && rank != call->root)) {
        return 0;
    }
    switch (collective->reduces) {
        case of_all: return expect_combined(call, size, block);
        case up_to_mine: return expect_combined(call, rank + 1, block);
        case before_mine: return expect_combined(call, rank, block);
        default: return expect_of_each(call, block);
    }
}

static void run_barrier(const struct call* call) {
    (void)call;
    functions->Barrier(MPI_COMM_WORLD);
}

static void run_broadcast(const struct call* call) {
    functions->Bcast(call->output, call->count, call->type, call->root, MPI_COMM_WORLD);
}

static void run_gather(const struct call* call) {
    functions->Gather(call->input, call->count, call->type, call->output, call->count, call->type,
               call->root, MPI_COMM_WORLD);
}

static void run_gatherv(const struct call* call) {
    functions->Gatherv(call->input, call->count, call->type, call->output, call->counts, call->places,
                call->type, call->root, MPI_COMM_WORLD);
}

static void run_scatter(const struct call* call) {
    functions->Scatter(call->input, call->count, call->type, call->output, call->count, call->type,
                call->root, MPI_COMM_WORLD);
}

static void run_scatterv(const struct call* call) {
    functions->Scatterv(call->input, call->counts, call->places, call->type, call->output, call->count,
                 call->type, call->root, MPI_COMM_WORLD);
}

static void run_allgather(const struct call* call) {
    functions->Allgather(call->input, call->count, call->type, call->output, call->count, call->type,
                  MPI_COMM_WORLD);
}

static void run_allgatherv(const struct call* call) {
    functions->Allgatherv(call->input, call->count, call->type, call->output, call->counts, call->places,
                   call->type, MPI_COMM_WORLD);
}

static void run_alltoall(const struct call* call) {
    functions->Alltoall(call->input, call->count, call->type, call->output, call->count, call->type,
                 MPI_COMM_WORLD);
}

static void run_alltoallv(const struct call* call) {
    functions->Alltoallv(call->input, call->counts, call->places, call->type, call->output, call->counts,
                  call->places, call->type, MPI_COMM_WORLD);
}

static void run_alltoallw(const struct call* call) {
    functions->Alltoallw(call->input, call->counts, call->offsets, call->types, call->output,
                  call->counts, call->offsets, call->types, MPI_COMM_WORLD);
}

static void run_reduce(const struct call* call) {
    functions->Reduce(call->input, call->output, call->count, call->type, call->op, call->root,
               MPI_COMM_WORLD);
}

static void run_allreduce(const struct call* call) {
    functions->Allreduce(call->input, call->output, call->count, call->type, call->op, MPI_COMM_WORLD);
}

static void run_reduce_scatter_block(const struct call* call) {
    functions->Reduce_scatter_block(call->input, call->output, call->count, call->type, call->op,
                             MPI_COMM_WORLD);
}

static void run_reduce_scatter(const struct call* call) {
    functions->Reduce_scatter(call->input, call->output, call->counts, call->type, call->op,
                       MPI_COMM_WORLD);
}

static void run_scan(const struct call* call) {
    functions->Scan(call->input, call->output, call->count, call->type, call->op, MPI_COMM_WORLD);
}

static void run_exscan(const struct call* call) {
    functions->Exscan(call->input, call->output, call->count, call->type, call->op, MPI_COMM_WORLD);
}

static const struct collective collectives[] = {
    {"barrier", nothing, nothing, 0, 0, no_reduction, run_barrier},
    {"broadcast", message, message, 1, 1, no_reduction, run_broadcast},
    {"gather", message, block_per_rank, 1, 0, no_reduction, run_gather},
    {"scatter", block_per_rank, message, 1, 1, no_reduction, run_scatter},
    {"allgather", message, block_per_rank, 0, 0, no_reduction, run_allgather},
    {"alltoall", block_per_rank, block_per_rank, 0, 0, no_reduction, run_alltoall},
    {"reduce", message, message, 1, 0, of_all, run_reduce},
    {"allreduce", message, message, 0, 0, of_all, run_allreduce},
    {"reduce_scatter_block", block_per_rank, message, 0, 0, of_all, run_reduce_scatter_block},
    {"scan", message, message, 0, 0, up_to_mine, run_scan},
    {"exscan", message, message, 0, 0, before_mine, run_exscan},
    {"gatherv", message, block_per_rank, 1, 0, no_reduction, run_gatherv},
    {"scatterv", block_per_rank, message, 1, 1, no_reduction, run_scatterv},
    {"allgatherv", message, block_per_rank, 0, 0, no_reduction, run_allgatherv},
    {"alltoallv", block_per_rank, block_per_rank, 0, 0, no_reduction, run_alltoallv},
    {"alltoallw", block_per_rank, block_per_rank, 0, 0, no_reduction, run_alltoallw},
    {"reduce_scatter", block_per_rank, message, 0, 0, of_all, run_reduce_scatter},
};

/* NULL: there is none of that name. */
static const struct collective* find_collective(const char* name) {
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i) {
        if (strcmp(collectives[i].name, name) == 0) {
            return &collectives[i];
        }
    }
    return NULL;
}

static unsigned char* blocks_of(enum part part, int length) {
    return room_for((part == block_per_rank ? (size_t)size : 1) * (size_t)length);
}

/* `first`, and so much more from rank to rank. */
static int* for_each_rank(int first, int step) {
    int* const made = room_for((size_t)size * sizeof *made);
    for (int i = 0; i < size; ++i) {
        made[i] = first + i * step;
    }
    return made;
}

static MPI_Datatype* types_for_each_rank(MPI_Datatype type) {
    MPI_Datatype* const made = room_for((size_t)size * sizeof *made);
    for (int i = 0; i < size; ++i) {
        made[i] = type;
    }
    return made;
}

static struct call make_call(const struct collective* collective, int length, int root) {
    struct call call = {.collective = collective, .length = length, .root = root, .type = MPI_BYTE,
                        .count = length, .op = MPI_BXOR};
    if (collective->reduces && length % (int)sizeof(double) == 0) {
        call.type = MPI_DOUBLE;
        call.count = length / (int)sizeof(double);
        call.op = MPI_SUM;
    }
    call.counts = for_each_rank(call.count, 0);
    call.places = for_each_rank(0, in_blocks(collective) ? call.count : 0);
    call.offsets = for_each_rank(0, in_blocks(collective) ? length : 0);
    call.types = types_for_each_rank(call.type);
    call.output = blocks_of(collective->gets, length);
    call.expected = blocks_of(collective->gets, length);
    call.operand = blocks_of(message, length);
    call.input = collective->run == run_broadcast ? call.output
                                                  : blocks_of(collective->gives, length);
    return call;
}

static void free_call(struct call* call) {
    if (call->input != call->output) {
        free(call->input);
    }
    free(call->output);
    free(call->expected);
    free(call->operand);
    free(call->counts);
    free(call->places);
    free(call->offsets);
    free(call->types);
}

enum { most_name = 64 };

/* Copies what is before the colon of NAME:VALUE; returns what is behind it. */
static inline const char* split_word(const char* word, char name[most_name], const char* wanted) {
    const char* const colon = strchr(word, ':');
    const size_t length = colon == NULL ? 0 : (size_t)(colon - word);
    if (length == 0 || length >= most_name) {
        fail(wanted, word);
    }
    memcpy(name, word, length);
    name[length] = '\0';
    return colon + 1;
}

/* From rank 0, where there is a root. */
static inline struct call call_named(const char* name, const char* bytes) {
    const struct collective* const collective = find_collective(name);
    if (collective == NULL) {
        fail("unknown collective", name);
    }
    return make_call(collective, parse_one(bytes, 0, 1 << 26), 0);
}

/* Of a linear congruential generator (Knuth, MMIX), from 0 to less than 1. */
static inline double next_random(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Before a call: nothing of an earlier one is left where this one's result is to be. Returns how many
 * bytes that is, for check_call. */
static size_t prepare_call(struct call* call, unsigned round) {
    call->round = round;
    const size_t bytes = (size_t)expect(call) * (size_t)call->length;
    memset(call->output, 0, bytes);
    if (call->collective->gives != nothing && (!call->collective->from_root || rank == call->root)) {
        const int blocks = call->collective->gives == block_per_rank ? size : 1;
        for (int block = 0; block < blocks; ++block) {
            fill_block(call, block_at(call, call->input, block), rank, block);
        }
    }
    return bytes;
}

#endif
