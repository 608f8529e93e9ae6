/* Reductions of several kinds of elements, each compared with what was folded here in the ranks' order. */
#pragma once

#include <math.h>

#include "calls.h"
#include "counted.h"

enum { prime = 10007, filler = 0x5A, margin = 64 };

/* A kind of element: how one is made, and what the operator makes of two. */
struct kind {
    const char* name;
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;
    int reach; /* at most so far below its address, or beyond its extent, an element lies */
    void (*make)(void* at, int rank, int i);
    void (*fold)(void* left, const void* right); /* left = left op right */
    int (*equal)(const void*, const void*);
};

struct with_index {
    double value;
    int index;
};

static inline void make_int(void* at, int rank, int i) { *(int*)at = (rank + 1) * (i % 1000 + 1); }
static inline void fold_int(void* left, const void* right) { *(int*)left += *(const int*)right; }
static inline int equal_int(const void* a, const void* b) { return *(const int*)a == *(const int*)b; }

static inline void make_double(void* at, int rank, int i) { *(double*)at = (rank * 37 + i * 11) % 101; }
static inline void fold_double(void* left, const void* right) {
    if (*(const double*)right > *(double*)left) *(double*)left = *(const double*)right;
}
static inline int equal_double(const void* a, const void* b) {
    return *(const double*)a == *(const double*)b;
}

static inline void make_indexed(void* at, int rank, int i) {
    struct with_index* const it = at;
    it->value = (rank * 31 + i * 7) % 5;
    it->index = rank;
}
static inline void fold_indexed(void* left, const void* right) {
    struct with_index* const a = left;
    const struct with_index* const b = right;
    if (b->value < a->value || (b->value == a->value && b->index < a->index)) {
        a->value = b->value;
        a->index = b->index;
    }
}
static inline int equal_indexed(const void* a, const void* b) {
    return ((const struct with_index*)a)->value == ((const struct with_index*)b)->value &&
           ((const struct with_index*)a)->index == ((const struct with_index*)b)->index;
}

/* Maps x -> ax + b, one after the other: does not commute. */
static inline void make_map(void* at, int rank, int i) {
    ((int*)at)[0] = (rank * 17 + i * 5) % (prime - 2) + 2;
    ((int*)at)[1] = (rank * 29 + i * 3) % prime;
}
static inline void fold_map(void* left, const void* right) {
    int* const a = left;
    const int* const b = right;
    a[1] = (int)(((long long)a[0] * b[1] + a[1]) % prime);
    a[0] = (int)((long long)a[0] * b[0] % prime);
}
static inline int equal_map(const void* a, const void* b) { return memcmp(a, b, 2 * sizeof(int)) == 0; }

static inline void compose_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *length; ++i) {
        int result[2];
        memcpy(result, (char*)in + i * extent, sizeof result);
        fold_map(result, (char*)inout + i * extent);
        memcpy((char*)inout + i * extent, result, sizeof result);
    }
}

static inline void add_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) {
        ((int*)inout)[i] += ((int*)in)[i];
    }
}

/* Of widely different size, so that almost every other order of adding them rounds otherwise. */
static inline void make_scaled(void* at, int rank, int i) {
    unsigned state = (unsigned)(rank * 7919 + i * 104729) * 2654435761u;
    state ^= state >> 15;
    state *= 2246822519u;
    state ^= state >> 13;
    *(double*)at = ldexp((double)(state % 100003) / 3.0, (int)(state >> 8) % 40 - 20);
}
static inline void add_scaled(void* left, const void* right) { *(double*)left += *(const double*)right; }
static inline int same_bits(const void* a, const void* b) { return memcmp(a, b, sizeof(double)) == 0; }

static inline struct kind ints_added(void) {
    const struct kind made = {"ints added", MPI_INT, MPI_SUM, sizeof(int), 0, make_int, fold_int, equal_int};
    return made;
}

enum { usual_kinds = 6, kinds, with_holes = 4, in_order = usual_kinds };

static inline void make_kinds(struct kind* all) {
    MPI_Datatype pair, spaced;
    MPI_Op ordered, commuting;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &spaced);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&spaced);
    MPI_Op_create(compose_maps, 0, &ordered);
    MPI_Op_create(add_maps, 1, &commuting);
    const struct kind made[kinds] = {
        ints_added(),
        {"doubles' maximum", MPI_DOUBLE, MPI_MAX, sizeof(double), 0, make_double, fold_double, equal_double},
        {"minima and where", MPI_DOUBLE_INT, MPI_MINLOC, sizeof(struct with_index), 0, make_indexed,
         fold_indexed, equal_indexed},
        {"maps composed", pair, ordered, 2 * sizeof(int), 0, make_map, fold_map, equal_map},
        {"maps with holes", spaced, ordered, 3 * sizeof(int), 0, make_map, fold_map, equal_map},
        {"added by the user", MPI_INT, commuting, sizeof(int), 0, make_int, fold_int, equal_int},
        {"doubles in the ranks' order", MPI_DOUBLE, MPI_SUM, sizeof(double), 0, make_scaled, add_scaled, same_bits},
    };
    memcpy(all, made, sizeof made);
}

static inline char* make_elements(const struct kind* kind, int count) {
    char* const all = malloc((size_t)count * kind->extent + 2 * margin);
    memset(all, filler, (size_t)count * kind->extent + 2 * margin);
    return all + margin;
}

/* Element i of a rank's operands. */
static inline void make(const struct kind* kind, void* at, int rank, int i) { kind->make(at, seed + rank, i); }

static inline void fill(const struct kind* kind, char* data, int count, int rank) {
    for (int i = 0; i < count; ++i) {
        make(kind, data + (size_t)i * kind->extent, rank, i);
    }
}

static inline void end_elements(const struct kind* kind, char* data, int count) {
    for (int i = kind->reach; i < margin; ++i) {
        expect(data[-1 - i] == filler && data[(size_t)count * kind->extent + (size_t)i] == filler,
               "a reduction wrote beyond its buffer", i);
    }
    free(data - margin);
}

/* Of ranks 0 .. end - 1, in order, element i of all. */
static inline void expect_folded(const struct kind* kind, const char* found, int i, int end,
                                 const char* what) {
    char expected[2 * margin], next[2 * margin];
    make(kind, expected + margin, 0, i);
    for (int rank = 1; rank < end; ++rank) {
        make(kind, next + margin, rank, i);
        kind->fold(expected + margin, next + margin);
    }
    check(kind->equal(found, expected + margin), what, i);
}

static inline void expect_unchanged(const struct kind* kind, const char* data, int count, int rank) {
    char expected[2 * margin];
    for (int i = 0; i < count; ++i) {
        make(kind, expected + margin, rank, i);
        check(kind->equal(data + (size_t)i * kind->extent, expected + margin), "a reduction changed its operand", i);
    }
}

/* Cuts `count` elements into one part for each rank: all in one, or more for later ranks. */
static inline void cut(int count, int size, int* counts) {
    for (int rank = 0; rank < size; ++rank) {
        const int begin = count * rank * rank / (size * size);
        const int end = count * (rank + 1) * (rank + 1) / (size * size);
        counts[rank] = count % 2 ? (rank == size / 2) * count : end - begin;
    }
}

/* Which elements of the result a rank gets, and of which ranks before `end` they are. */
struct results {
    int first, count, end;
};

static inline struct results results_of(struct place here, const struct collective* it, int count, int root,
                                        const int* counts) {
    struct results its = {0, count, here.size};
    if (it->run == reduce && here.rank != root) its.count = 0;
    if (it->run == scan) its.end = here.rank + 1;
    if (it->run == exscan) its = (struct results){0, here.rank > 0 ? count : 0, here.rank};
    if (it->run == reduce_scatter_block) its.first = here.rank * count;
    for (int rank = 0; it->run == reduce_scatter && rank <= here.rank; ++rank) {
        its.first += rank < here.rank ? counts[rank] : 0;
        its.count = counts[rank];
    }
    return its;
}

static inline void reduction(struct place here, const struct collective* it, const struct kind* kind, int count,
                             int root, int in_place) {
    const int operands = it->run == reduce_scatter_block ? count * here.size : count;
    const int is_in_place = in_place && (it->run != reduce || here.rank == root);
    int counts[most_ranks];
    cut(count, here.size, counts);
    char* const send = make_elements(kind, operands);
    char* const receive = make_elements(kind, operands);
    fill(kind, is_in_place ? receive : send, operands, here.rank);
    const struct arguments a = {{is_in_place ? MPI_IN_PLACE : send, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL},
                                {receive, count, kind->type, counts, NULL, NULL},
                                kind->op, root, here.comm, (count + in_place) % 2};
    call(it, &a);
    const struct results its = results_of(here, it, count, root, counts);
    for (int i = 0; i < its.count; ++i) {
        expect_folded(kind, receive + (size_t)i * kind->extent, its.first + i, its.end, kind->name);
    }
    if (!is_in_place) {
        expect_unchanged(kind, send, operands, here.rank);
    }
    end_elements(kind, send, operands);
    end_elements(kind, receive, operands);
}

/* Of kinds from `first` to before `end`. */
static inline void all_reductions(struct place here, const struct collective* it, const struct kind* all, int first,
                                  int end) {
    const int lengths[] = {0, 1, here.size - 1, here.size, here.size + 1, 37, 1500, 20011};
    const int long_ones = first == in_order && here.comm == MPI_COMM_WORLD;
    const int scatters = it->run == reduce_scatter || it->run == reduce_scatter_block;
    const int roots = it->rooted ? here.size : 1;
    for (int l = 0; l < 7 + long_ones; ++l) {
        for (int k = first; k < end; ++k) {
            if (k == with_holes && scatters) {
                continue; /* MPICH 5.0 gives wrong results itself */
            }
            for (int turn = 0; turn < 2 * roots; ++turn) {
                reduction(here, it, &all[k], lengths[l], turn / 2, turn % 2);
            }
        }
    }
}

/* --- types drawn by a seed: ints anywhere in an element, whose lower bound may be negative and whose extent may be larger
 * than needed, combined by an operator of the program's own ------------------------------------------------------- */

enum { most_fields = 3, modulus = 127, shift = 14 };

static struct {
    int fields;
    MPI_Aint places[most_fields]; /* bytes from the element's origin */
    MPI_Aint extent;
    int commutes;
} drawn;

/* Composition of x -> p x + q, both of them modulo a prime: associative, and does not commute. */
static inline int combined(int first, int second) {
    if (drawn.commutes) return first + second;
    const int p1 = first >> shift, q1 = first % (1 << shift), p2 = second >> shift, q2 = second % (1 << shift);
    return (p1 * p2 % modulus) << shift | (p1 * q2 + q1) % modulus;
}

static inline int* field(const void* element, int which) { return (int*)((char*)element + drawn.places[which]); }

static inline void make_drawn(void* at, int rank, int i) {
    for (int f = 0; f < drawn.fields; ++f) {
        const int p = (rank * 7 + i * 3 + f * 5) % (modulus - 1) + 1, q = (rank * 11 + i * 13 + f) % modulus;
        *field(at, f) = drawn.commutes ? rank * 1000 + i * 10 + f : p << shift | q;
    }
}
static inline void fold_drawn(void* left, const void* right) {
    for (int f = 0; f < drawn.fields; ++f) *field(left, f) = combined(*field(left, f), *field(right, f));
}
static inline int equal_drawn(const void* a, const void* b) {
    for (int f = 0; f < drawn.fields; ++f) {
        if (*field(a, f) != *field(b, f)) return 0;
    }
    return 1;
}

static inline void combine_drawn(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) {
        for (int f = 0; f < drawn.fields; ++f) {
            int* const result = field((char*)inout + i * drawn.extent, f);
            *result = combined(*field((char*)in + i * drawn.extent, f), *result);
        }
    }
}

/* Type and operator are the caller's to free. */
static inline struct kind drawn_kind(void) {
    int ones[most_fields] = {1, 1, 1};
    MPI_Datatype ints[most_fields] = {MPI_INT, MPI_INT, MPI_INT}, made_of_fields;
    drawn.fields = 1 + rand() % most_fields;
    MPI_Aint place = (rand() % 7 - 3) * 4;
    const MPI_Aint lowest = place;
    for (int f = 0; f < drawn.fields; ++f) {
        drawn.places[f] = place;
        place += 4 + rand() % 3 * 4;
    }
    const MPI_Aint end = drawn.places[drawn.fields - 1] + 4;
    if (rand() % 3 == 0) { /* not in order of place */
        drawn.places[drawn.fields - 1] = lowest;
        drawn.places[0] = end - 4;
    }
    const MPI_Aint lower = lowest - rand() % 4 * 4;
    drawn.extent = end - lower + rand() % 4 * 4;
    drawn.commutes = rand() % 2;
    struct kind made = {"drawn elements", MPI_DATATYPE_NULL, MPI_OP_NULL, (size_t)drawn.extent, 16, make_drawn,
                        fold_drawn, equal_drawn};
    MPI_Type_create_struct(drawn.fields, ones, drawn.places, ints, &made_of_fields);
    MPI_Type_create_resized(made_of_fields, lower, drawn.extent, &made.type);
    MPI_Type_commit(&made.type);
    MPI_Type_free(&made_of_fields);
    MPI_Op_create(combine_drawn, drawn.commutes, &made.op);
    return made;
}
