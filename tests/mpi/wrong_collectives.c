/* wrong_collectives COLLECTIVE...: calls with wrong arguments under MPI_ERRORS_RETURN. Prints the class of
 * error that each rank was answered; after each, right calls must give what they should. Every rank makes the
 * same mistake at once, and only such that the MPI library finds in the arguments, or in a short message from
 * or to the root: one that it finds in another, or not at all, may leave ranks waiting in it. */
#include "checked.h"

enum { room = 256, length = 4 };

static int sent[room], received[room];

static MPI_Datatype uncommitted, gaps, pairs;
static MPI_Op ordered;

/* What a call is given; those that take less ignore the rest. */
struct arguments {
    const void* send;
    int send_count;
    MPI_Datatype send_type;
    void* receive;
    int receive_count;
    MPI_Datatype receive_type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    int bare; /* what should be an array is none */
};

typedef int (*call)(const struct arguments*);

static int barrier(const struct arguments* a) { return MPI_Barrier(a->comm); }
static int broadcast(const struct arguments* a) {
    return MPI_Bcast(a->receive, a->receive_count, a->receive_type, a->root, a->comm);
}
static int gather(const struct arguments* a) {
    return MPI_Gather(a->send, a->send_count, a->send_type, a->receive, a->receive_count, a->receive_type, a->root,
                      a->comm);
}
static int scatter(const struct arguments* a) {
    return MPI_Scatter(a->send, a->send_count, a->send_type, a->receive, a->receive_count, a->receive_type, a->root,
                       a->comm);
}
static int allgather(const struct arguments* a) {
    return MPI_Allgather(a->send, a->send_count, a->send_type, a->receive, a->receive_count, a->receive_type,
                         a->comm);
}
static int alltoall(const struct arguments* a) {
    return MPI_Alltoall(a->send, a->send_count, a->send_type, a->receive, a->receive_count, a->receive_type,
                        a->comm);
}
static int reduce(const struct arguments* a) {
    return MPI_Reduce(a->send, a->receive, a->receive_count, a->receive_type, a->op, a->root, a->comm);
}
static int allreduce(const struct arguments* a) {
    return MPI_Allreduce(a->send, a->receive, a->receive_count, a->receive_type, a->op, a->comm);
}
static int reduce_scatter_block(const struct arguments* a) {
    return MPI_Reduce_scatter_block(a->send, a->receive, a->receive_count, a->receive_type, a->op, a->comm);
}
static int scan(const struct arguments* a) {
    return MPI_Scan(a->send, a->receive, a->receive_count, a->receive_type, a->op, a->comm);
}
static int exscan(const struct arguments* a) {
    return MPI_Exscan(a->send, a->receive, a->receive_count, a->receive_type, a->op, a->comm);
}

/* What the forms with a count for each rank are given: all counts the same, and blocks one behind another. */
struct for_ranks {
    int counts[room], places[room], offsets[room];
    MPI_Datatype types[room];
};

static struct for_ranks spread(int count, MPI_Datatype type) {
    struct for_ranks made;
    for (int i = 0; i < room; ++i) {
        made.counts[i] = count;
        made.places[i] = i * count;
        made.offsets[i] = i * count * (int)sizeof(int);
        made.types[i] = type;
    }
    return made;
}

static int gatherv(const struct arguments* a) {
    const struct for_ranks to = spread(a->receive_count, a->receive_type);
    return MPI_Gatherv(a->send, a->send_count, a->send_type, a->receive, a->bare ? NULL : to.counts, to.places,
                       a->receive_type, a->root, a->comm);
}
static int scatterv(const struct arguments* a) {
    const struct for_ranks from = spread(a->send_count, a->send_type);
    return MPI_Scatterv(a->send, a->bare ? NULL : from.counts, from.places, a->send_type, a->receive,
                        a->receive_count, a->receive_type, a->root, a->comm);
}
static int allgatherv(const struct arguments* a) {
    const struct for_ranks to = spread(a->receive_count, a->receive_type);
    return MPI_Allgatherv(a->send, a->send_count, a->send_type, a->receive, a->bare ? NULL : to.counts, to.places,
                          a->receive_type, a->comm);
}
/* Where both buffers are one, so are the arrays. */
static int alltoallv(const struct arguments* a) {
    const struct for_ranks from = spread(a->send_count, a->send_type);
    const struct for_ranks other = spread(a->receive_count, a->receive_type);
    const struct for_ranks* const to = a->send == a->receive ? &from : &other;
    return MPI_Alltoallv(a->send, a->bare ? NULL : from.counts, from.places, a->send_type, a->receive, to->counts,
                         to->places, a->receive_type, a->comm);
}
static int alltoallw(const struct arguments* a) {
    const struct for_ranks from = spread(a->send_count, a->send_type);
    const struct for_ranks other = spread(a->receive_count, a->receive_type);
    const struct for_ranks* const to = a->send == a->receive ? &from : &other;
    return MPI_Alltoallw(a->send, from.counts, from.offsets, a->bare ? NULL : from.types, a->receive, to->counts,
                         to->offsets, to->types, a->comm);
}
static int reduce_scatter(const struct arguments* a) {
    const struct for_ranks results = spread(a->receive_count, a->receive_type);
    return MPI_Reduce_scatter(a->send, a->receive, a->bare ? NULL : results.counts, a->receive_type, a->op,
                              a->comm);
}

enum { counted = 1, rooted = 2, two_sided = 4, reducing = 8, uneven = 16 };

static const struct collective {
    const char* name;
    call run;
    int kind;
} collectives[] = {
    {"barrier", barrier, 0},
    {"broadcast", broadcast, counted | rooted},
    {"gather", gather, counted | rooted | two_sided},
    {"scatter", scatter, counted | rooted | two_sided},
    {"allgather", allgather, counted | two_sided},
    {"alltoall", alltoall, counted | two_sided},
    {"reduce", reduce, counted | rooted | reducing},
    {"allreduce", allreduce, counted | reducing},
    {"reduce_scatter_block", reduce_scatter_block, counted | reducing},
    {"scan", scan, counted | reducing},
    {"exscan", exscan, counted | reducing},
    {"gatherv", gatherv, counted | rooted | two_sided | uneven},
    {"scatterv", scatterv, counted | rooted | two_sided | uneven},
    {"allgatherv", allgatherv, counted | two_sided | uneven},
    {"alltoallv", alltoallv, counted | two_sided | uneven},
    {"alltoallw", alltoallw, counted | two_sided | uneven},
    {"reduce_scatter", reduce_scatter, counted | reducing | uneven},
};

static struct arguments right(void) {
    const struct arguments made = {sent,    length,  MPI_INT, received,      length,
                                   MPI_INT, MPI_SUM, 0,       MPI_COMM_WORLD, 0};
    return made;
}

/* Of all ranks' classes, by sends and receives that are not what is tested. */
static void show(const char* name, const char* what, int code) {
    int mine = MPI_SUCCESS;
    MPI_Error_class(code, &mine);
    if (world_rank != 0) {
        MPI_Send(&mine, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        return;
    }
    printf("%s, %s: %d", name, what, mine);
    for (int rank = 1; rank < world_size; ++rank) {
        int its = -1;
        MPI_Recv(&its, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf(" %d", its);
    }
    printf("\n");
    fflush(stdout);
}

/* Rightly, on what tells whether calls were mixed up. */
static void call_rightly(const struct collective* it, int seed) {
    struct arguments a = right();
    for (int i = 0; i < room; ++i) {
        sent[i] = seed + world_rank;
        received[i] = world_rank == 0 ? seed : -1;
    }
    expect(it->run(&a) == MPI_SUCCESS, "a right call failed", seed);
    const int all = world_size * seed + world_size * (world_size - 1) / 2;
    if (it->kind & reducing && world_rank == 0 && strcmp(it->name, "exscan") != 0) {
        expect(received[0] == (it->run == scan ? seed : all), "wrong result after an error", seed);
    } else if (it->run == broadcast || it->run == scatter || it->run == scatterv) {
        expect(received[length - 1] == seed, "wrong data after an error", seed);
    } else if (it->kind & two_sided && !(it->kind & rooted)) {
        expect(received[length * world_size - 1] == seed + world_size - 1, "wrong data after an error", seed);
    }
}

static const struct collective* current;
static int calls_made;

/* Natively such calls end in a crash or an abort, or leave ranks waiting. */
static int is_beyond_native(const char* what) {
    if (current->kind & reducing && strncmp(what, "no type", 7) == 0) {
        return 1;
    }
#ifdef OPEN_MPI
    return (current->run == allgather && strcmp(what, "no communicator") == 0) ||
           (current->run == allgatherv && strcmp(what, "no counts or types for ranks") == 0) ||
           (current->run == scatterv && strncmp(what, "a type that is not committed", 28) == 0);
#else
    if (strcmp(what, "no counts or types for ranks") == 0 ||
        strcmp(what, "more than the root takes") == 0) { /* answered with the class that means statuses */
        return 1;
    }
#if MPICH_NUMVERSION < 50000000
    if (current->run == broadcast && strcmp(what, "no type, no elements") == 0) {
        return 1;
    }
#endif
    return current->kind & reducing && (strcmp(what, "a type that is not committed") == 0 ||
                                        strcmp(what, "a negative count") == 0);
#endif
}

static void mistake(const char* what, struct arguments given) {
    if (is_beyond_native(what)) {
        return;
    }
    show(current->name, what, current->run(&given));
    call_rightly(current, ++calls_made * 100);
}

#define WITH(what, ...)                \
    do {                               \
        struct arguments a = right();  \
        __VA_ARGS__;                   \
        mistake(what, a);              \
    } while (0)

static void wrong_counts_and_types(int kind) {
    WITH("a negative count", a.send_count = a.receive_count = -1);
    WITH("no type", a.send_type = a.receive_type = MPI_DATATYPE_NULL);
    WITH("a type that is not committed", a.send_type = a.receive_type = uncommitted; a.op = ordered;
         a.send_count = a.receive_count = 1);
    WITH("a type that is not committed, no elements", a.send_type = a.receive_type = uncommitted; a.op = ordered;
         a.send_count = a.receive_count = 0);
    WITH("no type, no elements", a.send_type = a.receive_type = MPI_DATATYPE_NULL;
         a.send_count = a.receive_count = 0);
    if (kind & two_sided || current->run == broadcast) {
        WITH("no buffers, no elements", a.send = a.receive = NULL; a.send_count = a.receive_count = 0);
    }
}

static void wrong_roots(void) {
    WITH("a root too high", a.root = world_size);
    WITH("a root too low", a.root = -9);
    WITH("a root as in intercommunicators", a.root = MPI_ROOT);
    WITH("a root that is no process", a.root = MPI_PROC_NULL);
}

static void wrong_operators(void) {
    WITH("no operator", a.op = MPI_OP_NULL);
    WITH("no operator, no elements", a.op = MPI_OP_NULL; a.receive_count = 0);
    WITH("a sum of a derived type", a.receive_type = pairs; a.receive_count = 1);
    WITH("a sum of a derived type, no elements", a.receive_type = pairs; a.receive_count = 0);
    WITH("a maximum of complex numbers", a.receive_type = MPI_C_DOUBLE_COMPLEX; a.op = MPI_MAX;
         a.receive_count = 1);
    WITH("bits of doubles", a.receive_type = MPI_DOUBLE; a.op = MPI_BAND; a.receive_count = 1);
    WITH("a sum of bytes", a.receive_type = MPI_BYTE);
    WITH("a sum of pairs", a.receive_type = MPI_2INT; a.receive_count = 1);
    WITH("where of ints", a.op = MPI_MINLOC);
    WITH("a sum of characters", a.receive_type = MPI_CHAR);
    WITH("what is replaced", a.op = MPI_REPLACE);
}

/* Only where each rank is answered alike, and at once. */
static void wrong_places(const struct collective* it) {
    if (it->run == broadcast) {
        WITH("one with gaps that is not committed", a.receive_type = gaps; a.receive_count = 1);
    }
    if (it->kind & reducing && it->run != reduce && it->run != exscan) {
        WITH("a result in place", a.receive = MPI_IN_PLACE);
    }
    if (it->kind & uneven && !(it->kind & rooted)) {
        WITH("no counts or types for ranks", a.bare = 1);
    }
    if (it->run == gatherv) {
        WITH("more than the root takes", a.send_count *= world_rank == world_size - 1 ? 2 : 1);
    }
    if (it->run == scatterv) {
        WITH("more than its receiver takes", a.receive_count /= world_rank == 0 ? 1 : 2);
    }
    if (it->run == allgather || it->run == allgatherv) {
        WITH("what is sent lies where it goes", a.send = received + world_rank * length);
    } else if (!(it->kind & rooted)) {
        WITH("both in one place", a.send = a.receive);
        WITH("both in one place, no elements", a.send = a.receive; a.send_count = a.receive_count = 0);
    }
    if (it->run == exscan) {
        WITH("long operands in one place", a.send = a.receive; a.receive_count = room);
    }
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(length, MPI_INT, &uncommitted);
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    MPI_Type_contiguous(2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Op_create(compose, 0, &ordered);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i) {
        current = &collectives[i];
        int wanted = argc == 1;
        for (int word = 1; word < argc; ++word) {
            wanted |= strcmp(argv[word], current->name) == 0;
        }
        if (!wanted) {
            continue;
        }
        call_rightly(current, 7);
        WITH("no communicator", a.comm = MPI_COMM_NULL);
        if (current->kind & counted) wrong_counts_and_types(current->kind);
        if (current->kind & rooted) wrong_roots();
        if (current->kind & reducing) wrong_operators();
        wrong_places(current);
    }
    MPI_Op_free(&ordered);
    MPI_Type_free(&pairs);
    MPI_Type_free(&gaps);
    MPI_Type_free(&uncommitted);
    end("");
    return 0;
}
