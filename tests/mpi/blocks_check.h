/* Collectives that move blocks of ints, laid out in several ways, between guards: one for each rank, all of one length
 * or, with a count for each, of many lengths, which lie one behind another, with gaps or in another order, in datatypes
 * that differ between ranks and sides. */
#pragma once

#include "calls.h"

enum { untouched = -559038737, guards = 3 };

/* Ways to lay n ints out in memory; the first of them for any n, the others for even ones that are not 0. */
enum { plain, padded, backwards, of_any_length };
enum { one_element = of_any_length, strided, padded_pairs, swapped_pairs, layouts };

/* A datatype and count for n ints. */
struct layout {
    MPI_Datatype type;
    int count;
    int n;
    int slots; /* ints of memory that a block spans */
    int kind;
};

static inline MPI_Datatype ints_at(int n, const int* offsets) {
    MPI_Datatype made;
    MPI_Type_create_indexed_block(n, 1, offsets, MPI_INT, &made);
    return made;
}

static inline MPI_Datatype ints_backwards(int n) {
    int* const offsets = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < n; ++i) {
        offsets[i] = n - 1 - i;
    }
    const MPI_Datatype made = ints_at(n, offsets);
    free(offsets);
    return made;
}

static inline MPI_Datatype pairs_and_holes(void) {
    MPI_Datatype pair, made;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &made);
    MPI_Type_free(&pair);
    return made;
}

static inline struct layout lay_out(int kind, int n) {
    static const int swapped[] = {1, 0};
    struct layout made = {MPI_INT, n, n, n, kind == backwards && n == 0 ? plain : kind};
    switch (made.kind) {
        case padded: MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &made.type); break;
        case backwards: made.type = ints_backwards(n); break;
        case one_element: MPI_Type_contiguous(n, MPI_INT, &made.type); break;
        case strided: MPI_Type_vector(n, 1, 2, MPI_INT, &made.type); break;
        case padded_pairs: made.type = pairs_and_holes(); break;
        /* No gaps and extent equal to size, yet the bytes are not in order. */
        case swapped_pairs: made.type = ints_at(2, swapped); break;
        default: return made;
    }
    MPI_Type_commit(&made.type);
    made.count = made.kind == padded ? n : made.kind >= padded_pairs ? n / 2 : 1;
    made.slots = made.kind == padded || made.kind == strided ? 2 * n : made.kind == padded_pairs ? n / 2 * 3 : n;
    return made;
}

static inline int slot(const struct layout* layout, int i) {
    switch (layout->kind) {
        case padded:
        case strided: return 2 * i;
        case backwards: return layout->n - 1 - i;
        case padded_pairs: return i / 2 * 3 + i % 2;
        case swapped_pairs: return i ^ 1;
        default: return i;
    }
}

/* So many ints between guards; the program's part is `data`. */
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

/* What `from` has for `to`. */
static inline int value(int from, int to, int i) { return (seed + from) * 1000003 + to * 10007 + i * 7 + 1; }

static inline void end_buffer(struct buffer* buffer, const char* what) {
    for (int i = 0; i < buffer->ints + 2 * guards; ++i) {
        expect(buffer->all[i] == untouched, what, i - guards);
    }
    free(buffer->all);
}

/* How a call is made: the lengths of its blocks, and how this rank's own and those of all lie. */
struct way {
    int pattern; /* of the lengths, or as long as `length` */
    int length;
    int kind, order, own_kind, own_order;
    int in_place, large;
};

enum { patterns = 5, all_alike = patterns, orders = 3 };

/* How many ints `from` has for `to`. */
static inline int length_in(struct way way, int from, int to, int size) {
    const int mixed = from * 7 + to * 5 + 1;
    switch (way.pattern) {
        case 0: return mixed % 3 == 0 ? 0 : mixed % 11;
        case 1: return from == size / 2 && to == size / 3 ? 700 : 0; /* one has all */
        case 2: return 0;
        case 3: return mixed % 4 * 600;
        case 4: return 3;
        default: return way.length;
    }
}

/* One side of a call: a block, or one for every rank. */
struct side {
    int blocks;
    struct layout layouts[most_ranks];
    int begins[most_ranks]; /* in ints */
    int counts[most_ranks], places[most_ranks];
    MPI_Datatype types[most_ranks];
    int ints;
};

/* `lengths` in ints. With `each_its_own` type, places are in bytes. */
static inline struct side make_side(int blocks, const int* lengths, int kind, int order, int each_its_own) {
    struct side made;
    made.blocks = blocks;
    made.ints = 0;
    for (int i = 0; i < blocks; ++i) {
        const int block = order == 2 ? blocks - 1 - i : i;
        struct layout* const layout = &made.layouts[block];
        *layout = lay_out(each_its_own ? (kind + block) % of_any_length : kind, lengths[block]);
        made.ints += order == 1 ? 2 : 0; /* whole elements of every kind */
        made.begins[block] = made.ints;
        made.counts[block] = layout->count;
        made.types[block] = layout->type;
        made.places[block] = each_its_own ? made.ints * (int)sizeof(int) : made.ints / (1 + kind);
        made.ints += layout->slots;
    }
    return made;
}

static inline void end_side(struct side* side) {
    for (int block = 0; block < side->blocks; ++block) {
        if (side->types[block] != MPI_INT) {
            MPI_Type_free(&side->layouts[block].type);
        }
    }
}

static inline void put(struct buffer* buffer, const struct side* side, int block, int from, int to) {
    const struct layout* const layout = &side->layouts[block];
    for (int i = 0; i < layout->n; ++i) {
        buffer->data[side->begins[block] + slot(layout, i)] = value(from, to, i);
    }
}

/* Checks a block and sets it back, so that what is left must be untouched. */
static inline void take(struct buffer* buffer, const struct side* side, int block, int from, int to, const char* what) {
    const struct layout* const layout = &side->layouts[block];
    for (int i = 0; i < layout->n; ++i) {
        int* const at = &buffer->data[side->begins[block] + slot(layout, i)];
        check(*at == value(from, to, i), what, i);
        *at = untouched;
    }
}

/* --- the calls ---------------------------------------------------------------------------------------- */

/* Who has a block for each rank, and gets one from each. Others have, or get, one. */
static inline int sends_to_each(const struct collective* it) { return it->gives == block_per_rank; }
static inline int gets_from_each(const struct collective* it) { return it->gets == block_per_rank; }
static inline int is_exchange(const struct collective* it) { return sends_to_each(it) && gets_from_each(it); }

/* How many ints this rank sends to another, or gets from it; in place these must be equal. Where each rank has but one
 * block: how many that has. */
static inline int length_with(struct place here, const struct collective* it, struct way way, int other, int sent) {
    if (!is_exchange(it)) {
        return length_in(way, other, way.pattern == 1 ? here.size / 3 : other, here.size);
    }
    const int swapped = way.in_place ? other < here.rank : !sent;
    return swapped ? length_in(way, other, here.rank, here.size) : length_in(way, here.rank, other, here.size);
}

static inline struct side side_of(struct place here, const struct collective* it, struct way way, int of_each, int sent) {
    int lengths[most_ranks];
    for (int rank = 0; rank < here.size; ++rank) {
        lengths[rank] = length_with(here, it, way, of_each ? rank : here.rank, sent);
    }
    if (!of_each) {
        return make_side(1, lengths, way.own_kind, 0, 0);
    }
    return sent && is_exchange(it) ? make_side(here.size, lengths, way.own_kind, way.own_order, it->run == alltoallw)
                                   : make_side(here.size, lengths, way.kind, way.order, it->run == alltoallw);
}

static inline struct part part_of(const struct buffer* buffer, const struct side* side) {
    return (struct part){buffer->data, side->counts[0], side->types[0], side->counts, side->places, side->types};
}

static inline void move_blocks(struct place here, const struct collective* it, struct way way, int root) {
    const int to_each = sends_to_each(it), from_each = gets_from_each(it);
    const int at_root = !it->rooted || here.rank == root;
    const int sends = !to_each || at_root, gets = !from_each || at_root;
    struct side from = side_of(here, it, way, to_each, 1), to = side_of(here, it, way, from_each, 0);
    struct buffer send = make_ints(sends ? from.ints : 0), receive = make_ints(gets ? to.ints : 0);
    struct arguments a = {part_of(&send, &from), part_of(&receive, &to), MPI_OP_NULL, root, here.comm, way.large};
    const int in_place = way.in_place && at_root, sent_in_place = in_place && from_each;
    for (int block = 0; sends && block < from.blocks; ++block) {
        const int receiver = to_each ? block : 0;
        if (sent_in_place) {
            put(&receive, &to, to_each ? block : here.rank, here.rank, receiver);
        } else {
            put(&send, &from, block, here.rank, receiver);
        }
    }
    if (in_place) {
        *(from_each ? &a.send : &a.receive) = (struct part){MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL};
    }
    if (!at_root && it->uneven) { /* nothing may be looked at of what only the root has */
        *(to_each ? &a.send : &a.receive) = (struct part){NULL, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL};
    }
    call(it, &a);
    for (int block = 0; gets && (from_each || !in_place) && block < to.blocks; ++block) {
        take(&receive, &to, block, from_each ? block : root, to_each ? here.rank : 0, it->name);
    }
    for (int block = 0; sends && !sent_in_place && block < from.blocks; ++block) {
        take(&send, &from, block, here.rank, to_each ? block : 0, "what is sent was changed");
    }
    end_buffer(&send, "written beside what is sent");
    end_buffer(&receive, "written elsewhere");
    end_side(&from);
    end_side(&to);
}

static inline void from_every_root(struct place here, const struct collective* it, struct way way) {
    const int roots = it->rooted ? here.size : 1;
    for (int root = 0; root < roots; ++root) {
        move_blocks(here, it, way, root);
    }
}

static inline void all_blocks(struct place here, const struct collective* it) {
    const int lengths[] = {0, 1, 2, here.size, 37, 1500};
    for (int l = 0; l < 6; ++l) {
        for (int turn = 0; turn < 2 * of_any_length; ++turn) {
            const struct way way = {.pattern = all_alike,
                                    .length = lengths[l],
                                    .kind = (turn + l) % of_any_length,
                                    .own_kind = turn % of_any_length,
                                    .in_place = turn >= of_any_length,
                                    .large = (turn + l) % 2};
            from_every_root(here, it, way);
        }
    }
}

static inline void all_uneven_blocks(struct place here, const struct collective* it) {
    if (it->run == alltoallw && here.size == 1) {
        return; /* Open MPI 5 takes the displacements for extents */
    }
    for (int turn = 0; turn < patterns * orders * 2 * 2 * 2; ++turn) {
        struct way way = {.large = turn % 2, .in_place = turn / 2 % 2, .kind = turn / 4 % 2, .order = turn / 8 % orders,
                          .pattern = turn / 8 / orders};
        way.own_kind = (way.kind + here.rank) % (is_exchange(it) ? 2 : of_any_length);
        way.own_order = (way.order + 1) % orders;
        from_every_root(here, it, way);
    }
}
