/* collectives_check NAME...: calls collectives in every way that MPI allows and compares every element
 * with what was computed here, and every byte around and between them with what was there: lengths from
 * nothing to many, all roots, blocks in place, datatypes that differ between the sides of a call and have
 * holes, operators that do not commute, communicators that are reordered or parts of the world. Run natively
 * it checks itself. Prints "ok CHECKS" from rank 0. */
#include <time.h>

#include "checked.h"

static long checks;

static void check(int condition, const char* what, long detail) {
    expect(condition, what, detail);
    ++checks;
}

/* --- where a call is made ------------------------------------------------------------------------------- */

struct place {
    MPI_Comm comm;
    int rank, size;
};

static struct place place_on(MPI_Comm comm) {
    struct place here = {comm, 0, 0};
    MPI_Comm_rank(comm, &here.rank);
    MPI_Comm_size(comm, &here.size);
    return here;
}

/* --- blocks of ints, laid out in several ways ------------------------------------------------------------- */

enum { untouched = -559038737, guards = 3, layouts = 3 };

/* A datatype and count for n ints. */
struct layout {
    MPI_Datatype type;
    int count;
    int n;
    int slots; /* ints of memory that a block spans */
    int kind;
};

static struct layout lay_out(int kind, int n) {
    struct layout made = {MPI_INT, n, n, n, kind};
    if (kind == 1) { /* an int and a hole */
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &made.type);
        made.slots = 2 * n;
    } else if (kind == 2 && n > 0) { /* one element, backwards */
        int* const lengths = malloc((size_t)n * sizeof(int));
        int* const offsets = malloc((size_t)n * sizeof(int));
        for (int i = 0; i < n; ++i) {
            lengths[i] = 1;
            offsets[i] = n - 1 - i;
        }
        MPI_Type_indexed(n, lengths, offsets, MPI_INT, &made.type);
        made.count = 1;
        free(lengths);
        free(offsets);
    }
    if (made.type != MPI_INT) {
        MPI_Type_commit(&made.type);
    }
    return made;
}

static void end_layout(struct layout* layout) {
    if (layout->type != MPI_INT) {
        MPI_Type_free(&layout->type);
    }
}

static int slot(const struct layout* layout, int i) {
    return layout->kind == 1 ? 2 * i : layout->kind == 2 ? layout->n - 1 - i : i;
}

/* Ints of so many blocks between guards; the program's part is `data`. */
struct buffer {
    int* all;
    int* data;
    int ints;
};

static struct buffer make_buffer(const struct layout* layout, int blocks) {
    struct buffer made = {NULL, NULL, layout->slots * blocks};
    made.all = malloc((size_t)(made.ints + 2 * guards) * sizeof(int));
    made.data = made.all + guards;
    for (int i = 0; i < made.ints + 2 * guards; ++i) {
        made.all[i] = untouched;
    }
    return made;
}

/* What `from` has for `to`. */
static int value(int from, int to, int i) { return from * 1000003 + to * 10007 + i * 7 + 1; }

static void put_block(struct buffer* buffer, const struct layout* layout, int block, int from, int to) {
    for (int i = 0; i < layout->n; ++i) {
        buffer->data[block * layout->slots + slot(layout, i)] = value(from, to, i);
    }
}

/* Checks a block and sets it back, so that what is left must be untouched. */
static void take_block(struct buffer* buffer, const struct layout* layout, int block, int from, int to,
                       const char* what) {
    for (int i = 0; i < layout->n; ++i) {
        int* const at = &buffer->data[block * layout->slots + slot(layout, i)];
        check(*at == value(from, to, i), what, i);
        *at = untouched;
    }
}

static void end_buffer(struct buffer* buffer, const char* what) {
    for (int i = 0; i < buffer->ints + 2 * guards; ++i) {
        expect(buffer->all[i] == untouched, what, i - guards);
    }
    free(buffer->all);
}

static void forget_block(struct buffer* buffer, const struct layout* layout, int block) {
    for (int i = 0; i < layout->n; ++i) {
        buffer->data[block * layout->slots + slot(layout, i)] = untouched;
    }
}

/* --- gather, scatter, allgather, alltoall ------------------------------------------------------------------- */

static void gathers(struct place here, struct layout* mine, struct layout* theirs, int root, int in_place) {
    const int everywhere = root < 0;
    const int receives = everywhere || here.rank == root;
    struct buffer send = make_buffer(mine, 1), receive = make_buffer(theirs, receives ? here.size : 0);
    const int is_in_place = in_place && receives;
    if (is_in_place) {
        put_block(&receive, theirs, here.rank, here.rank, 0);
    } else {
        put_block(&send, mine, 0, here.rank, 0);
    }
    const void* const from = is_in_place ? MPI_IN_PLACE : send.data;
    if (everywhere) {
        MPI_Allgather(from, mine->count, mine->type, receive.data, theirs->count, theirs->type, here.comm);
    } else {
        MPI_Gather(from, mine->count, mine->type, receive.data, theirs->count, theirs->type, root, here.comm);
    }
    for (int rank = 0; receives && rank < here.size; ++rank) {
        take_block(&receive, theirs, rank, rank, 0, "wrong data gathered");
    }
    if (!is_in_place) {
        forget_block(&send, mine, 0);
    }
    end_buffer(&send, "gather wrote into what it sends");
    end_buffer(&receive, "gather wrote elsewhere");
}

static void scatters(struct place here, struct layout* mine, struct layout* theirs, int root, int in_place) {
    const int sends = here.rank == root;
    struct buffer send = make_buffer(theirs, sends ? here.size : 0), receive = make_buffer(mine, 1);
    for (int rank = 0; sends && rank < here.size; ++rank) {
        put_block(&send, theirs, rank, root, rank);
    }
    const int is_in_place = in_place && sends;
    MPI_Scatter(send.data, theirs->count, theirs->type, is_in_place ? MPI_IN_PLACE : receive.data,
                mine->count, mine->type, root, here.comm);
    for (int rank = 0; sends && rank < here.size; ++rank) {
        take_block(&send, theirs, rank, root, rank, "scatter changed what it sends");
    }
    if (!is_in_place) {
        take_block(&receive, mine, 0, root, here.rank, "wrong data scattered");
    }
    end_buffer(&send, "scatter wrote into what it sends");
    end_buffer(&receive, "scatter wrote elsewhere");
}

static void exchanges(struct place here, struct layout* mine, struct layout* theirs, int in_place) {
    struct buffer send = make_buffer(mine, here.size), receive = make_buffer(theirs, here.size);
    for (int rank = 0; rank < here.size; ++rank) {
        if (in_place) {
            put_block(&receive, theirs, rank, here.rank, rank);
        } else {
            put_block(&send, mine, rank, here.rank, rank);
        }
    }
    MPI_Alltoall(in_place ? MPI_IN_PLACE : send.data, mine->count, mine->type, receive.data, theirs->count,
                 theirs->type, here.comm);
    for (int rank = 0; rank < here.size; ++rank) {
        take_block(&receive, theirs, rank, rank, here.rank, "wrong data exchanged");
        if (!in_place) {
            take_block(&send, mine, rank, here.rank, rank, "alltoall changed what it sends");
        }
    }
    end_buffer(&send, "alltoall wrote into what it sends");
    end_buffer(&receive, "alltoall wrote elsewhere");
}

static void all_blocks(struct place here, const char* name) {
    const int lengths[] = {0, 1, 2, here.size, 37, 1500};
    for (int l = 0; l < 6; ++l) {
        for (int way = 0; way < 2 * layouts; ++way) {
            struct layout mine = lay_out(way % layouts, lengths[l]);
            struct layout theirs = lay_out((way + l) % layouts, lengths[l]);
            const int in_place = way >= layouts;
            for (int root = 0; root < here.size; ++root) {
                if (strcmp(name, "gather") == 0) gathers(here, &mine, &theirs, root, in_place);
                if (strcmp(name, "scatter") == 0) scatters(here, &mine, &theirs, root, in_place);
            }
            if (strcmp(name, "allgather") == 0) gathers(here, &mine, &theirs, -1, in_place);
            if (strcmp(name, "alltoall") == 0) exchanges(here, &mine, &theirs, in_place);
            end_layout(&mine);
            end_layout(&theirs);
        }
    }
}

/* --- reductions ------------------------------------------------------------------------------------------- */

enum { prime = 10007, widest = 24 };

/* A kind of element: how one is made, and what the operator makes of two. */
struct kind {
    const char* name;
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;
    void (*make)(void* at, int rank, int i);
    void (*fold)(void* left, const void* right); /* left = left op right */
    int (*equal)(const void*, const void*);
};

struct with_index {
    double value;
    int index;
};

static void make_int(void* at, int rank, int i) { *(int*)at = (rank + 1) * (i % 1000 + 1); }
static void fold_int(void* left, const void* right) { *(int*)left += *(const int*)right; }
static int equal_int(const void* a, const void* b) { return *(const int*)a == *(const int*)b; }

static void make_double(void* at, int rank, int i) { *(double*)at = (rank * 37 + i * 11) % 101; }
static void fold_double(void* left, const void* right) {
    if (*(const double*)right > *(double*)left) *(double*)left = *(const double*)right;
}
static int equal_double(const void* a, const void* b) { return *(const double*)a == *(const double*)b; }

static void make_indexed(void* at, int rank, int i) {
    struct with_index* const it = at;
    it->value = (rank * 31 + i * 7) % 5;
    it->index = rank;
}
static void fold_indexed(void* left, const void* right) {
    struct with_index* const a = left;
    const struct with_index* const b = right;
    if (b->value < a->value || (b->value == a->value && b->index < a->index)) {
        a->value = b->value;
        a->index = b->index;
    }
}
static int equal_indexed(const void* a, const void* b) {
    return ((const struct with_index*)a)->value == ((const struct with_index*)b)->value &&
           ((const struct with_index*)a)->index == ((const struct with_index*)b)->index;
}

/* Maps x -> ax + b, one after the other: does not commute. */
static void make_map(void* at, int rank, int i) {
    ((int*)at)[0] = (rank * 17 + i * 5) % (prime - 2) + 2;
    ((int*)at)[1] = (rank * 29 + i * 3) % prime;
}
static void fold_map(void* left, const void* right) {
    int* const a = left;
    const int* const b = right;
    a[1] = (int)(((long long)a[0] * b[1] + a[1]) % prime);
    a[0] = (int)((long long)a[0] * b[0] % prime);
}
static int equal_map(const void* a, const void* b) { return memcmp(a, b, 2 * sizeof(int)) == 0; }

static void compose_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *length; ++i) {
        int result[2];
        memcpy(result, (char*)in + i * extent, sizeof result);
        fold_map(result, (char*)inout + i * extent);
        memcpy((char*)inout + i * extent, result, sizeof result);
    }
}

static void add_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) {
        ((int*)inout)[i] += ((int*)in)[i];
    }
}

enum { kinds = 6, with_holes = 4 };

static void make_kinds(struct kind* all) {
    MPI_Datatype pair, padded;
    MPI_Op ordered, commuting;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &padded);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&padded);
    MPI_Op_create(compose_maps, 0, &ordered);
    MPI_Op_create(add_maps, 1, &commuting);
    const struct kind made[kinds] = {
        {"ints added", MPI_INT, MPI_SUM, sizeof(int), make_int, fold_int, equal_int},
        {"doubles' maximum", MPI_DOUBLE, MPI_MAX, sizeof(double), make_double, fold_double, equal_double},
        {"minima and where", MPI_DOUBLE_INT, MPI_MINLOC, sizeof(struct with_index), make_indexed,
         fold_indexed, equal_indexed},
        {"maps composed", pair, ordered, 2 * sizeof(int), make_map, fold_map, equal_map},
        {"maps with holes", padded, ordered, 3 * sizeof(int), make_map, fold_map, equal_map},
        {"added by the user", MPI_INT, commuting, sizeof(int), make_int, fold_int, equal_int},
    };
    memcpy(all, made, sizeof made);
}

enum { filler = 0x5A, margin = 16 };

static char* make_elements(const struct kind* kind, int count) {
    char* const all = malloc((size_t)count * kind->extent + 2 * margin);
    memset(all, filler, (size_t)count * kind->extent + 2 * margin);
    return all + margin;
}

static void fill(const struct kind* kind, char* data, int count, int rank) {
    for (int i = 0; i < count; ++i) {
        kind->make(data + (size_t)i * kind->extent, rank, i);
    }
}

static void end_elements(const struct kind* kind, char* data, int count) {
    for (int i = 0; i < margin; ++i) {
        expect(data[-1 - i] == filler && data[(size_t)count * kind->extent + (size_t)i] == filler,
               "a reduction wrote beyond its buffer", i);
    }
    free(data - margin);
}

/* Of ranks 0 .. end - 1, in order, element i of all. */
static void expect_folded(const struct kind* kind, const char* found, int i, int end, const char* what) {
    char expected[widest], next[widest];
    kind->make(expected, 0, i);
    for (int rank = 1; rank < end; ++rank) {
        kind->make(next, rank, i);
        kind->fold(expected, next);
    }
    check(kind->equal(found, expected), what, i);
}

static void expect_unchanged(const struct kind* kind, const char* data, int count, int rank) {
    char expected[widest];
    for (int i = 0; i < count; ++i) {
        kind->make(expected, rank, i);
        check(kind->equal(data + (size_t)i * kind->extent, expected), "a reduction changed its operand", i);
    }
}

/* Calls the one of that name; returns how many elements the result has here, of which ranks before
 * `*end` are folded, beginning with element `*first`. */
static int call_reduction(const char* name, const struct kind* kind, const void* send, char* receive, int count,
                          int root, struct place here, int* end, int* first) {
    *end = here.size;
    *first = 0;
    if (strcmp(name, "reduce") == 0) {
        MPI_Reduce(send, receive, count, kind->type, kind->op, root, here.comm);
        return here.rank == root ? count : 0;
    }
    if (strcmp(name, "allreduce") == 0) {
        MPI_Allreduce(send, receive, count, kind->type, kind->op, here.comm);
        return count;
    }
    if (strcmp(name, "scan") == 0) {
        MPI_Scan(send, receive, count, kind->type, kind->op, here.comm);
        *end = here.rank + 1;
        return count;
    }
    if (strcmp(name, "exscan") == 0) {
        MPI_Exscan(send, receive, count, kind->type, kind->op, here.comm);
        *end = here.rank;
        return here.rank > 0 ? count : 0;
    }
    MPI_Reduce_scatter_block(send, receive, count / here.size, kind->type, kind->op, here.comm);
    *first = here.rank * (count / here.size);
    return count / here.size;
}

static void reduction(struct place here, const char* name, const struct kind* kind, int count, int root,
                      int in_place) {
    const int scattered = strcmp(name, "reduce_scatter_block") == 0;
    const int operands = scattered ? count * here.size : count;
    const int is_in_place = in_place && (strcmp(name, "reduce") != 0 || here.rank == root);
    char* const send = make_elements(kind, operands);
    char* const receive = make_elements(kind, operands);
    fill(kind, is_in_place ? receive : send, operands, here.rank);
    int end, first;
    const int results = call_reduction(name, kind, is_in_place ? MPI_IN_PLACE : send, receive, operands, root,
                                       here, &end, &first);
    for (int i = 0; i < results; ++i) {
        expect_folded(kind, receive + (size_t)i * kind->extent, first + i, end, kind->name);
    }
    if (!is_in_place) {
        expect_unchanged(kind, send, operands, here.rank);
    }
    end_elements(kind, send, operands);
    end_elements(kind, receive, operands);
}

static void all_reductions(struct place here, const char* name, const struct kind* all) {
    const int lengths[] = {0, 1, here.size - 1, here.size, here.size + 1, 37, 1500};
    for (int l = 0; l < 7; ++l) {
        for (int k = 0; k < kinds; ++k) {
            if (k == with_holes && strcmp(name, "reduce_scatter_block") == 0) {
                continue; /* MPICH 5.0 gives wrong results itself */
            }
            for (int way = 0; way < 2; ++way) {
                const int roots = strcmp(name, "reduce") == 0 ? here.size : 1;
                for (int root = 0; root < roots; ++root) {
                    reduction(here, name, &all[k], lengths[l], root, way);
                }
            }
        }
    }
}

/* --- barrier: nobody leaves before all have come; the clock is one for all, since the machine is ---------- */

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void barriers(struct place here) {
    for (int late = 0; late < here.size; ++late) {
        if (late == here.rank) {
            usleep(3000);
        }
        double times[2];
        times[0] = now_s();
        MPI_Barrier(here.comm);
        times[1] = now_s();
        double latest_begin = times[0], earliest_end = times[1];
        for (int other = 0; other < here.size; ++other) {
            double theirs[2];
            if (other == here.rank) {
                continue;
            }
            MPI_Sendrecv(times, 2, MPI_DOUBLE, other, 7, theirs, 2, MPI_DOUBLE, other, 7, here.comm,
                         MPI_STATUS_IGNORE);
            latest_begin = theirs[0] > latest_begin ? theirs[0] : latest_begin;
            earliest_end = theirs[1] < earliest_end ? theirs[1] : earliest_end;
        }
        check(earliest_end >= latest_begin, "left a barrier before all had come", late);
    }
}

static void check_on(MPI_Comm comm, int argc, char** argv, const struct kind* all) {
    const struct place here = place_on(comm);
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "barrier") == 0) {
            barriers(here);
        } else {
            all_blocks(here, argv[i]);
            if (strcmp(argv[i], "reduce") == 0 || strcmp(argv[i], "allreduce") == 0 ||
                strstr(argv[i], "scan") != NULL || strcmp(argv[i], "reduce_scatter_block") == 0) {
                all_reductions(here, argv[i], all);
            }
        }
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    end_within(100);
    expect(argc > 1, "usage: collectives_check COLLECTIVE...", argc);
    struct kind all[kinds];
    make_kinds(all);
    MPI_Comm reversed, part;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
    check_on(MPI_COMM_WORLD, argc, argv, all);
    check_on(reversed, argc, argv, all);
    check_on(part, argc, argv, all);
    check_on(MPI_COMM_SELF, argc, argv, all);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&part);
    MPI_Op_free(&all[3].op);
    MPI_Op_free(&all[5].op);
    MPI_Type_free(&all[3].type);
    MPI_Type_free(&all[4].type);
    char text[40];
    snprintf(text, sizeof text, "%ld", checks);
    end(text);
    return 0;
}
