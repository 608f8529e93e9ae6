/* Calls of collectives, and what must arrive.
 *
 * A call's length is that of the message, or of one block where there is one for every rank. The forms with
 * a count for each rank are called with blocks as long as one another, and so compare with the others.
 * Reductions add doubles where the length is a multiple of 8, and combine bytes by exclusive or
 * otherwise; the doubles are small whole numbers, so that their sum is the same in any order. */
#pragma once

#include "calls.h"
#include "measuring.h"

struct call {
    const struct collective* collective;
    int length;
    int root;
    struct arguments arguments; /* of which those for each rank are this call's own */
    int* counts;
    int* places;
    MPI_Datatype* types;
    unsigned round;
    unsigned char* input;
    unsigned char* output;
    unsigned char* expected;
    unsigned char* operand;
};

static int in_blocks(const struct collective* collective) {
    return collective->gives == block_per_rank || collective->gets == block_per_rank;
}

/* The root alone gives anything. */
static int from_root(const struct collective* collective) {
    return collective->rooted && !collective->reduces && collective->gets == one_block;
}

static int adds_doubles(const struct call* call) {
    return call->arguments.op == MPI_SUM;
}

/* Elements of one block. */
static int count_of(const struct call* call) {
    return adds_doubles(call) ? call->length / (int)sizeof(double) : call->length;
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
    for (int i = 0; i < count_of(call); ++i) {
        values[i] = pattern(i, seed);
    }
}

static void combine(const struct call* call, void* result, const void* operand) {
    double* const sums = result;
    const double* const terms = operand;
    unsigned char* const bytes = result;
    const unsigned char* const other_bytes = operand;
    for (int i = 0; i < count_of(call); ++i) {
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
    if (from_root(collective)) {
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

static unsigned char* blocks_of(enum share share, int length) {
    return room_for((share == block_per_rank ? (size_t)size : 1) * (size_t)length);
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

/* Blocks for all ranks lie one behind another: displacements are in elements, or with a type for each rank in bytes. */
static struct call make_call(const struct collective* collective, int length, int root) {
    struct call call = {.collective = collective, .length = length, .root = root};
    const int doubles = collective->reduces && length % (int)sizeof(double) == 0;
    const MPI_Datatype type = doubles ? MPI_DOUBLE : MPI_BYTE;
    call.arguments.op = doubles ? MPI_SUM : MPI_BXOR;
    const int count = count_of(&call);
    call.counts = for_each_rank(count, 0);
    call.places = for_each_rank(0, !in_blocks(collective) ? 0 : collective->run == alltoallw ? length : count);
    call.types = types_for_each_rank(type);
    call.output = blocks_of(collective->gets, length);
    call.expected = blocks_of(collective->gets, length);
    call.operand = blocks_of(one_block, length);
    call.input = collective->run == broadcast ? call.output : blocks_of(collective->gives, length);
    call.arguments = (struct arguments){{call.input, count, type, call.counts, call.places, call.types},
                                        {call.output, count, type, call.counts, call.places, call.types},
                                        call.arguments.op, root, MPI_COMM_WORLD, 0};
    return call;
}

static void run_call(const struct call* call) { call->collective->run(&call->arguments); }

static void free_call(struct call* call) {
    if (call->input != call->output) {
        free(call->input);
    }
    free(call->output);
    free(call->expected);
    free(call->operand);
    free(call->counts);
    free(call->places);
    free(call->types);
}

/* Before a call: nothing of an earlier one is left where this one's result is to be. Returns how many
 * bytes that is, for check_call. */
static size_t prepare_call(struct call* call, unsigned round) {
    call->round = round;
    const size_t bytes = (size_t)expect(call) * (size_t)call->length;
    memset(call->output, 0, bytes);
    if (call->collective->gives != nothing && (!from_root(call->collective) || rank == call->root)) {
        const int blocks = call->collective->gives == block_per_rank ? size : 1;
        for (int block = 0; block < blocks; ++block) {
            fill_block(call, block_at(call, call->input, block), rank, block);
        }
    }
    return bytes;
}
