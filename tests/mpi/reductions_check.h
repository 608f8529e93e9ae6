/* Reductions of several kinds of elements, each compared with what was folded here in the ranks' order. */
#pragma once

#include <math.h>

#include "calls.h"

enum { filler = 0x5A, margin = 128 };

/* Elements of a program's own, and an operator of its own for them: longs anywhere in an element, whose lower bound may
 * be negative and whose extent may be larger than needed. */
enum { most_fields = 3 };
struct fields {
    int count;
    MPI_Aint places[most_fields]; /* bytes from the element's origin */
    MPI_Aint lower, extent;
    int commutes;
    int absolute; /* in place they lie at addresses */
    int slow; /* the operator takes long enough for others' messages to come meanwhile */
};

/* A kind of element: how one is made, and what the operator makes of two. */
struct kind {
    const char* name;
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;
    int reach; /* at most so far below its address, or beyond its extent, an element lies */
    void (*make)(void* at, int rank, int i);
    void (*fold)(void* left, const void* right); /* left = left op right */
    const struct fields* fields; /* null: MPI's own type and operator */
};

struct with_index {
    double value;
    int index;
};

static inline void make_int(void* at, int rank, int i) { *(int*)at = (rank + 1) * (i % 1000 + 1); }
static inline void fold_int(void* left, const void* right) { *(int*)left += *(const int*)right; }

static inline void make_double(void* at, int rank, int i) { *(double*)at = (rank * 37 + i * 11) % 101; }
static inline void fold_double(void* left, const void* right) {
    if (*(const double*)right > *(double*)left) *(double*)left = *(const double*)right;
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

/* Of widely different size, so that almost every other order of adding them rounds otherwise. */
static inline void make_scaled(void* at, int rank, int i) {
    unsigned state = (unsigned)(rank * 7919 + i * 104729) * 2654435761u;
    state ^= state >> 15;
    state *= 2246822519u;
    state ^= state >> 13;
    *(double*)at = ldexp((double)(state % 100003) / 3.0, (int)(state >> 8) % 40 - 20);
}
static inline void add_scaled(void* left, const void* right) { *(double*)left += *(const double*)right; }

/* --- elements and operators of the program's own --------------------------------------------------------------- */

enum { modulus = 127, shift = 14 };

static _Thread_local const struct fields* fields; /* of the reduction that runs in this thread */

/* Composition of x -> p x + q, both of them modulo a prime: associative, and does not commute. */
static inline long combined(long first, long second) {
    if (fields->commutes) return first + second;
    const long p1 = first >> shift, q1 = first % (1 << shift), p2 = second >> shift, q2 = second % (1 << shift);
    return (p1 * p2 % modulus) << shift | (p1 * q2 + q1) % modulus;
}

static inline long* field(const void* element, int which) {
    long* const at = (long*)((char*)element + fields->places[which]);
    expect((size_t)at % _Alignof(long) == 0, "an operator was given what is not aligned", which);
    return at;
}

static inline void make_own(void* at, int rank, int i) {
    for (int f = 0; f < fields->count; ++f) {
        const int p = (rank * 7 + i * 3 + f * 5) % (modulus - 1) + 1, q = (rank * 11 + i * 13 + f) % modulus;
        *field(at, f) = fields->commutes ? rank * 1000 + i * 10 + f : p << shift | q;
    }
}
static inline void fold_own(void* left, const void* right) {
    for (int f = 0; f < fields->count; ++f) *field(left, f) = combined(*field(left, f), *field(right, f));
}

static inline MPI_Aint lowest_place(void) {
    MPI_Aint lowest = fields->places[0];
    for (int f = 1; f < fields->count; ++f) {
        lowest = fields->places[f] < lowest ? fields->places[f] : lowest;
    }
    return lowest;
}

static inline void combine_own(void* in, void* inout, int* length, MPI_Datatype* type) {
    MPI_Aint lower, extent;
    MPI_Type_get_true_extent(*type, &lower, &extent);
    const MPI_Aint origin = lower - lowest_place(); /* not 0 where the type is of addresses */
    if (fields->slow) {
        usleep(1000);
    }
    for (int i = 0; i < *length; ++i) {
        const MPI_Aint at = origin + i * fields->extent;
        for (int f = 0; f < fields->count; ++f) {
            long* const result = field((char*)inout + at, f);
            *result = combined(*field((char*)in + at, f), *result);
        }
    }
}

/* Type and operator are the caller's to free. */
static inline struct kind own_kind(const char* name, const struct fields* its) {
    const int ones[most_fields] = {1, 1, 1};
    const MPI_Datatype longs[most_fields] = {MPI_LONG, MPI_LONG, MPI_LONG};
    struct kind made = {name, MPI_DATATYPE_NULL, MPI_OP_NULL, (size_t)its->extent, 64, make_own, fold_own, its};
    MPI_Datatype made_of_fields;
    MPI_Type_create_struct(its->count, ones, its->places, longs, &made_of_fields);
    MPI_Type_create_resized(made_of_fields, its->lower, its->extent, &made.type);
    MPI_Type_commit(&made.type);
    MPI_Type_free(&made_of_fields);
    MPI_Op_create(combine_own, its->commutes, &made.op);
    return made;
}

static inline void free_own(struct kind* kind) {
    MPI_Op_free(&kind->op);
    MPI_Type_free(&kind->type);
}

static inline struct kind drawn_kind(void) {
    enum { unit = sizeof(long) };
    static struct fields drawn;
    drawn.count = 1 + rand() % most_fields;
    MPI_Aint place = (rand() % 7 - 3) * unit;
    const MPI_Aint lowest = place;
    for (int f = 0; f < drawn.count; ++f) {
        drawn.places[f] = place;
        place += unit + rand() % 3 * unit;
    }
    const MPI_Aint end = drawn.places[drawn.count - 1] + unit;
    if (rand() % 3 == 0) { /* not in order of place */
        drawn.places[drawn.count - 1] = lowest;
        drawn.places[0] = end - unit;
    }
    drawn.lower = lowest - rand() % 4 * unit;
    drawn.extent = end - drawn.lower + rand() % 4 * unit;
    drawn.commutes = rand() % 2;
    drawn.absolute = rand() % 2;
    drawn.slow = rand() % 4 == 0;
    return own_kind("drawn elements", &drawn);
}

/* --- kinds -------------------------------------------------------------------------------------------------------- */

static inline struct kind ints_added(void) {
    const struct kind made = {"ints added", MPI_INT, MPI_SUM, sizeof(int), 0, make_int, fold_int, NULL};
    return made;
}

enum { usual_kinds = 6, kinds, with_holes = 4, in_order = usual_kinds };

static inline void make_kinds(struct kind* all) {
    static const struct fields pairs = {2, {0, sizeof(long)}, 0, 2 * sizeof(long), 0, 0, 0};
    static const struct fields holes = {2, {0, sizeof(long)}, 0, 3 * sizeof(long), 0, 0, 0};
    static const struct fields numbers = {1, {0}, 0, sizeof(long), 1, 0, 0};
    const struct kind made[kinds] = {
        ints_added(),
        {"doubles' maximum", MPI_DOUBLE, MPI_MAX, sizeof(double), 0, make_double, fold_double, NULL},
        {"minima and where", MPI_DOUBLE_INT, MPI_MINLOC, sizeof(struct with_index), 0, make_indexed, fold_indexed,
         NULL},
        own_kind("maps composed", &pairs),
        own_kind("maps with holes", &holes),
        own_kind("added by the user", &numbers),
        {"doubles in the ranks' order", MPI_DOUBLE, MPI_SUM, sizeof(double), 0, make_scaled, add_scaled, NULL},
    };
    memcpy(all, made, sizeof made);
}

static inline char* make_elements(const struct kind* kind, int count) {
    char* const all = malloc((size_t)count * kind->extent + 2 * margin);
    memset(all, filler, (size_t)count * kind->extent + 2 * margin);
    return all + margin;
}

/* Bit by bit, but for what lies between fields. */
static inline int equal(const struct kind* kind, const void* a, const void* b) {
    if (kind->fields == NULL) {
        int size;
        MPI_Type_size(kind->type, &size);
        return memcmp(a, b, (size_t)size) == 0;
    }
    for (int f = 0; f < kind->fields->count; ++f) {
        if (*field(a, f) != *field(b, f)) return 0;
    }
    return 1;
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
    _Alignas(long) char expected[2 * margin], next[2 * margin];
    make(kind, expected + margin, 0, i);
    for (int rank = 1; rank < end; ++rank) {
        make(kind, next + margin, rank, i);
        kind->fold(expected + margin, next + margin);
    }
    check(equal(kind, found, expected + margin), what, i);
}

static inline void expect_unchanged(const struct kind* kind, const char* data, int count, int rank) {
    _Alignas(long) char expected[2 * margin];
    for (int i = 0; i < count; ++i) {
        make(kind, expected + margin, rank, i);
        check(equal(kind, data + (size_t)i * kind->extent, expected + margin), "a reduction changed its operand", i);
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

static inline MPI_Datatype at_address(MPI_Datatype type, const void* data) {
    const int one = 1;
    MPI_Aint address;
    MPI_Datatype made;
    MPI_Get_address(data, &address);
    MPI_Type_create_hindexed(1, &one, &address, type, &made);
    MPI_Type_commit(&made);
    return made;
}

static inline void reduction(struct place here, const struct collective* it, const struct kind* kind, int count,
                             int root, int in_place) {
    const int operands = it->run == reduce_scatter_block ? count * here.size : count;
    const int is_in_place = in_place && (it->run != reduce || here.rank == root);
    int counts[most_ranks];
    fields = kind->fields;
    cut(count, here.size, counts);
    char* const send = make_elements(kind, operands);
    char* const receive = make_elements(kind, operands);
    fill(kind, is_in_place ? receive : send, operands, here.rank);
    const int absolute = is_in_place && fields != NULL && fields->absolute;
    MPI_Datatype type = absolute ? at_address(kind->type, receive) : kind->type;
    const struct arguments a = {{is_in_place ? MPI_IN_PLACE : send, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL},
                                {absolute ? MPI_BOTTOM : receive, count, type, counts, NULL, NULL},
                                kind->op, root, here.comm, (count + in_place) % 2};
    call(it, &a);
    if (absolute) {
        MPI_Type_free(&type);
    }
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
