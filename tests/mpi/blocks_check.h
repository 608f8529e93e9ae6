/* Gather, scatter, allgather and alltoall: blocks of ints, laid out in several ways, between guards. */
#pragma once

#include "counted.h"

enum { untouched = -559038737, guards = 3, layouts = 3 };

/* A datatype and count for n ints. */
struct layout {
    MPI_Datatype type;
    int count;
    int n;
    int slots; /* ints of memory that a block spans */
    int kind;
};

static inline struct layout lay_out(int kind, int n) {
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

static inline void end_layout(struct layout* layout) {
    if (layout->type != MPI_INT) {
        MPI_Type_free(&layout->type);
    }
}

static inline int slot(const struct layout* layout, int i) {
    return layout->kind == 1 ? 2 * i : layout->kind == 2 ? layout->n - 1 - i : i;
}

/* Ints of so many blocks between guards; the program's part is `data`. */
struct buffer {
    int* all;
    int* data;
    int ints;
};

static inline struct buffer make_ints(int ints) {
    struct buffer made = {NULL, NULL, ints};
    made.all = malloc((size_t)(made.ints + 2 * guards) * sizeof(int));
    made.data = made.all + guards;
    for (int i = 0; i < made.ints + 2 * guards; ++i) {
        made.all[i] = untouched;
    }
    return made;
}

static inline struct buffer make_buffer(const struct layout* layout, int blocks) {
    return make_ints(layout->slots * blocks);
}

/* What `from` has for `to`. */
static inline int value(int from, int to, int i) { return from * 1000003 + to * 10007 + i * 7 + 1; }

/* A block that begins after so many ints. */
static inline void put_at(struct buffer* buffer, const struct layout* layout, int begin, int from, int to) {
    for (int i = 0; i < layout->n; ++i) {
        buffer->data[begin + slot(layout, i)] = value(from, to, i);
    }
}

static inline void put_block(struct buffer* buffer, const struct layout* layout, int block, int from,
                             int to) {
    put_at(buffer, layout, block * layout->slots, from, to);
}

/* Checks a block and sets it back, so that what is left must be untouched. */
static inline void take_at(struct buffer* buffer, const struct layout* layout, int begin, int from, int to,
                           const char* what) {
    for (int i = 0; i < layout->n; ++i) {
        int* const at = &buffer->data[begin + slot(layout, i)];
        check(*at == value(from, to, i), what, i);
        *at = untouched;
    }
}

static inline void take_block(struct buffer* buffer, const struct layout* layout, int block, int from, int to,
                              const char* what) {
    take_at(buffer, layout, block * layout->slots, from, to, what);
}

static inline void end_buffer(struct buffer* buffer, const char* what) {
    for (int i = 0; i < buffer->ints + 2 * guards; ++i) {
        expect(buffer->all[i] == untouched, what, i - guards);
    }
    free(buffer->all);
}

static inline void forget_block(struct buffer* buffer, const struct layout* layout, int block) {
    for (int i = 0; i < layout->n; ++i) {
        buffer->data[block * layout->slots + slot(layout, i)] = untouched;
    }
}

/* --- the calls ---------------------------------------------------------------------------------------- */

static inline void gathers(struct place here, struct layout* mine, struct layout* theirs, int root,
                           int in_place) {
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

static inline void scatters(struct place here, struct layout* mine, struct layout* theirs, int root,
                            int in_place) {
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

static inline void exchanges(struct place here, struct layout* mine, struct layout* theirs, int in_place) {
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

static inline void all_blocks(struct place here, const char* name) {
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
