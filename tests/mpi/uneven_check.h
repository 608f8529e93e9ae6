/* Gatherv, scatterv, allgatherv, alltoallv and alltoallw: blocks of ints of many lengths, which lie one behind
 * another, with gaps or in another order, in datatypes that differ between ranks and sides. */
#pragma once

#include "blocks_check.h"

enum { patterns = 5, orders = 3 };

/* How many ints `from` has for `to`. */
static inline int length_in(int pattern, int from, int to, int size) {
    const int mixed = from * 7 + to * 5 + 1;
    switch (pattern) {
        case 0: return mixed % 3 == 0 ? 0 : mixed % 11;
        case 1: return from == size / 2 && to == size / 3 ? 700 : 0; /* one has all */
        case 2: return 0;
        case 3: return mixed % 4 * 600;
        default: return 3;
    }
}

/* One side of a call: a block for every rank. */
struct side {
    struct layout* layouts; /* of blocks */
    int* begins;            /* in ints */
    int* counts;
    int* places; /* as MPI takes them */
    MPI_Datatype* types;
    int ints;
};

/* `lengths` in ints. With `each_its_own` type, places are in bytes. */
static inline struct side make_side(int size, const int* lengths, int kind, int order, int each_its_own) {
    const size_t blocks = (size_t)size;
    struct side made = {malloc(blocks * sizeof(struct layout)), malloc(blocks * sizeof(int)),
                        malloc(blocks * sizeof(int)),           malloc(blocks * sizeof(int)),
                        malloc(blocks * sizeof(MPI_Datatype)),  0};
    for (int i = 0; i < size; ++i) {
        const int block = order == 2 ? size - 1 - i : i;
        struct layout* const layout = &made.layouts[block];
        *layout = lay_out(each_its_own ? (kind + block) % layouts : kind, lengths[block]);
        made.ints += order == 1 ? 2 : 0; /* whole elements of every kind */
        made.begins[block] = made.ints;
        made.counts[block] = layout->count;
        made.types[block] = layout->type;
        made.places[block] = each_its_own ? made.ints * (int)sizeof(int) : made.ints / (1 + kind);
        made.ints += layout->slots;
    }
    return made;
}

static inline void end_side(struct side* side, int size) {
    for (int block = 0; block < size; ++block) {
        end_layout(&side->layouts[block]);
    }
    free(side->layouts);
    free(side->begins);
    free(side->counts);
    free(side->places);
    free(side->types);
}

/* How a call is made. */
struct way {
    int pattern, order, kind, in_place, large;
};

/* root < 0: everywhere. */
static inline void call_gatherv(struct place here, struct way way, const void* from,
                                const struct layout* mine, void* to, const struct side* theirs, int root) {
#if MPI_VERSION >= 4
    if (way.large) {
        MPI_Count* const counts = large_counts(theirs->counts, here.size);
        MPI_Aint* const places = large_places(theirs->places, here.size);
        if (root < 0) {
            MPI_Allgatherv_c(from, mine->count, mine->type, to, counts, places, theirs->types[0], here.comm);
        } else {
            MPI_Gatherv_c(from, mine->count, mine->type, to, counts, places, theirs->types[0], root, here.comm);
        }
        free(counts);
        free(places);
        return;
    }
#endif
    (void)way;
    if (root < 0) {
        MPI_Allgatherv(from, mine->count, mine->type, to, theirs->counts, theirs->places, theirs->types[0],
                       here.comm);
    } else if (here.rank == root) {
        MPI_Gatherv(from, mine->count, mine->type, to, theirs->counts, theirs->places, theirs->types[0], root,
                    here.comm);
    } else { /* where nothing comes nothing of that is looked at */
        MPI_Gatherv(from, mine->count, mine->type, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, here.comm);
    }
}

static inline void call_scatterv(struct place here, struct way way, const void* from,
                                 const struct side* theirs, void* to, const struct layout* mine, int root) {
#if MPI_VERSION >= 4
    if (way.large) {
        MPI_Count* const counts = large_counts(theirs->counts, here.size);
        MPI_Aint* const places = large_places(theirs->places, here.size);
        MPI_Scatterv_c(from, counts, places, theirs->types[0], to, mine->count, mine->type, root, here.comm);
        free(counts);
        free(places);
        return;
    }
#endif
    (void)way;
    if (here.rank == root) {
        MPI_Scatterv(from, theirs->counts, theirs->places, theirs->types[0], to, mine->count, mine->type, root,
                     here.comm);
    } else {
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, to, mine->count, mine->type, root, here.comm);
    }
}

static inline void call_alltoallv(struct place here, struct way way, int each_its_own, const void* from,
                                  const struct side* mine, void* to, const struct side* theirs) {
#if MPI_VERSION >= 4
    if (way.large) {
        MPI_Count* const counts[] = {large_counts(mine->counts, here.size),
                                     large_counts(theirs->counts, here.size)};
        MPI_Aint* const places[] = {large_places(mine->places, here.size),
                                    large_places(theirs->places, here.size)};
        if (each_its_own) {
            MPI_Alltoallw_c(from, counts[0], places[0], mine->types, to, counts[1], places[1], theirs->types,
                            here.comm);
        } else {
            MPI_Alltoallv_c(from, counts[0], places[0], mine->types[0], to, counts[1], places[1],
                            theirs->types[0], here.comm);
        }
        for (int i = 0; i < 2; ++i) {
            free(counts[i]);
            free(places[i]);
        }
        return;
    }
#endif
    (void)way;
    if (each_its_own) {
        MPI_Alltoallw(from, mine->counts, mine->places, mine->types, to, theirs->counts, theirs->places,
                      theirs->types, here.comm);
    } else {
        MPI_Alltoallv(from, mine->counts, mine->places, mine->types[0], to, theirs->counts, theirs->places,
                      theirs->types[0], here.comm);
    }
}

static inline void gathers_uneven(struct place here, struct way way, const int* lengths, int root) {
    const int receives = root < 0 || here.rank == root;
    struct side theirs = make_side(here.size, lengths, way.kind, way.order, 0);
    struct layout mine = lay_out((way.kind + here.rank) % layouts, lengths[here.rank]);
    struct buffer send = make_buffer(&mine, 1), receive = make_ints(receives ? theirs.ints : 0);
    const int is_in_place = way.in_place && receives;
    if (is_in_place) {
        put_at(&receive, &theirs.layouts[here.rank], theirs.begins[here.rank], here.rank, 0);
    } else {
        put_block(&send, &mine, 0, here.rank, 0);
    }
    call_gatherv(here, way, is_in_place ? MPI_IN_PLACE : send.data, &mine, receive.data, &theirs, root);
    for (int rank = 0; receives && rank < here.size; ++rank) {
        take_at(&receive, &theirs.layouts[rank], theirs.begins[rank], rank, 0, "wrong uneven data gathered");
    }
    if (!is_in_place) {
        forget_block(&send, &mine, 0);
    }
    end_buffer(&send, "gatherv wrote into what it sends");
    end_buffer(&receive, "gatherv wrote elsewhere");
    end_layout(&mine);
    end_side(&theirs, here.size);
}

static inline void scatters_uneven(struct place here, struct way way, const int* lengths, int root) {
    const int sends = here.rank == root;
    struct side theirs = make_side(here.size, lengths, way.kind, way.order, 0);
    struct layout mine = lay_out((way.kind + here.rank) % layouts, lengths[here.rank]);
    struct buffer send = make_ints(sends ? theirs.ints : 0), receive = make_buffer(&mine, 1);
    for (int rank = 0; sends && rank < here.size; ++rank) {
        put_at(&send, &theirs.layouts[rank], theirs.begins[rank], root, rank);
    }
    const int is_in_place = way.in_place && sends;
    call_scatterv(here, way, send.data, &theirs, is_in_place ? MPI_IN_PLACE : receive.data, &mine, root);
    for (int rank = 0; sends && rank < here.size; ++rank) {
        take_at(&send, &theirs.layouts[rank], theirs.begins[rank], root, rank,
                "scatterv changed what it sends");
    }
    if (!is_in_place) {
        take_block(&receive, &mine, 0, root, here.rank, "wrong uneven data scattered");
    }
    end_buffer(&send, "scatterv wrote into what it sends");
    end_buffer(&receive, "scatterv wrote elsewhere");
    end_layout(&mine);
    end_side(&theirs, here.size);
}

/* In place what a rank sends to another must be as long as what it gets. */
static inline void exchanges_uneven(struct place here, struct way way, int each_its_own) {
    int* const sent = malloc((size_t)here.size * sizeof(int));
    int* const received = malloc((size_t)here.size * sizeof(int));
    for (int rank = 0; rank < here.size; ++rank) {
        const int low = rank < here.rank ? rank : here.rank, high = rank + here.rank - low;
        sent[rank] = way.in_place ? length_in(way.pattern, low, high, here.size)
                                  : length_in(way.pattern, here.rank, rank, here.size);
        received[rank] =
            way.in_place ? sent[rank] : length_in(way.pattern, rank, here.rank, here.size);
    }
    struct side mine = make_side(here.size, sent, (way.kind + here.rank) % 2, (way.order + 1) % orders,
                                 each_its_own);
    struct side theirs = make_side(here.size, received, way.kind, way.order, each_its_own);
    struct buffer send = make_ints(mine.ints), receive = make_ints(theirs.ints);
    for (int rank = 0; rank < here.size; ++rank) {
        if (way.in_place) {
            put_at(&receive, &theirs.layouts[rank], theirs.begins[rank], here.rank, rank);
        } else {
            put_at(&send, &mine.layouts[rank], mine.begins[rank], here.rank, rank);
        }
    }
    call_alltoallv(here, way, each_its_own, way.in_place ? MPI_IN_PLACE : send.data, &mine, receive.data,
                   &theirs);
    for (int rank = 0; rank < here.size; ++rank) {
        take_at(&receive, &theirs.layouts[rank], theirs.begins[rank], rank, here.rank,
                "wrong uneven data exchanged");
        if (!way.in_place) {
            take_at(&send, &mine.layouts[rank], mine.begins[rank], here.rank, rank,
                    "alltoallv changed what it sends");
        }
    }
    end_buffer(&send, "alltoallv wrote into what it sends");
    end_buffer(&receive, "alltoallv wrote elsewhere");
    end_side(&mine, here.size);
    end_side(&theirs, here.size);
    free(sent);
    free(received);
}

static inline void uneven_blocks(struct place here, const char* name, struct way way) {
    int* const lengths = malloc((size_t)here.size * sizeof(int));
    for (int rank = 0; rank < here.size; ++rank) {
        lengths[rank] = length_in(way.pattern, rank, way.pattern == 1 ? here.size / 3 : rank, here.size);
    }
    for (int root = 0; root < here.size; ++root) {
        if (strcmp(name, "gatherv") == 0) gathers_uneven(here, way, lengths, root);
        if (strcmp(name, "scatterv") == 0) scatters_uneven(here, way, lengths, root);
    }
    if (strcmp(name, "allgatherv") == 0) gathers_uneven(here, way, lengths, -1);
    if (strcmp(name, "alltoallv") == 0) exchanges_uneven(here, way, 0);
    /* On one rank Open MPI 5 takes the displacements for extents. */
    if (strcmp(name, "alltoallw") == 0 && here.size > 1) exchanges_uneven(here, way, 1);
    free(lengths);
}

static inline void all_uneven_blocks(struct place here, const char* name) {
    struct way way;
    for (way.pattern = 0; way.pattern < patterns; ++way.pattern) {
        for (way.order = 0; way.order < orders; ++way.order) {
            for (way.kind = 0; way.kind < 2; ++way.kind) {
                for (way.in_place = 0; way.in_place < 2; ++way.in_place) {
                    for (way.large = 0; way.large < 2; ++way.large) {
                        uneven_blocks(here, name, way);
                    }
                }
            }
        }
    }
}
