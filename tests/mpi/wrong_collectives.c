/* wrong_collectives COLLECTIVE...: calls with wrong arguments under MPI_ERRORS_RETURN. Prints the class of
 * error that each rank was answered; after each, right calls must give what they should. Every rank makes the
 * same mistake at once, and only such that the MPI library finds in the arguments, or in a short message from
 * or to the root: one that it finds in another, or not at all, may leave ranks waiting in it. */
#include "any_collective.h"

enum { room = 256, length = 4 };

static int sent[room], received[room];

static MPI_Datatype uncommitted, gaps, pairs;
static MPI_Op ordered;

/* What the forms with a count for each rank are given: all counts the same, and blocks one behind another. */
struct for_ranks {
    int counts[most_ranks], places[most_ranks];
    MPI_Datatype types[most_ranks];
};

static struct for_ranks spread(const struct collective* it, const struct part* part) {
    const int unit = it->run == alltoallw ? (int)sizeof(int) : 1;
    struct for_ranks made;
    for (int i = 0; i < most_ranks; ++i) {
        made.counts[i] = part->count;
        made.places[i] = i * part->count * unit;
        made.types[i] = part->type;
    }
    return made;
}

static void give(struct part* part, const struct for_ranks* all) {
    part->counts = all->counts;
    part->places = all->places;
    part->types = all->types;
}

static int is_two_sided(const struct collective* it) { return it->gives && !it->reduces && it->run != broadcast; }

/* Where both buffers are one, so are the arrays. `bare`: what should be an array is none. */
static int call_with(const struct collective* it, struct arguments a, int bare) {
    const struct for_ranks from = spread(it, &a.send), to = spread(it, &a.receive);
    give(&a.send, &from);
    give(&a.receive, is_two_sided(it) && a.send.data == a.receive.data ? &from : &to);
    if (bare && it->run == alltoallw) {
        a.send.types = NULL;
    } else if (bare) {
        *(it->run == alltoallv ? &a.send.counts : &a.receive.counts) = NULL;
    }
    return it->run(&a);
}

static struct arguments right(void) {
    const struct arguments made = {{sent, length, MPI_INT, NULL, NULL, NULL},
                                   {received, length, MPI_INT, NULL, NULL, NULL},
                                   MPI_SUM, 0, MPI_COMM_WORLD, 0};
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

static const struct collective* current;
static int calls_made;

/* What it gives tells whether calls were mixed up. */
static void call_rightly(void) {
    call_checked(MPI_COMM_WORLD, (int)(current - collectives), length, 0, ++calls_made);
}

/* Natively such calls end in a crash or an abort, or leave ranks waiting. */
static int is_beyond_native(const char* what) {
    if (current->reduces && strncmp(what, "no type", 7) == 0) {
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
    return current->reduces && (strcmp(what, "a type that is not committed") == 0 ||
                                        strcmp(what, "a negative count") == 0);
#endif
}

static void mistake(const char* what, struct arguments given, int bare) {
    if (is_beyond_native(what)) {
        return;
    }
    show(current->name, what, call_with(current, given, bare));
    call_rightly();
}

#define WITH(what, ...)                \
    do {                               \
        struct arguments a = right();  \
        int bare = 0;                  \
        __VA_ARGS__;                   \
        mistake(what, a, bare);        \
    } while (0)

static void wrong_counts_and_types(void) {
    WITH("a negative count", a.send.count = a.receive.count = -1);
    WITH("no type", a.send.type = a.receive.type = MPI_DATATYPE_NULL);
    WITH("a type that is not committed", a.send.type = a.receive.type = uncommitted; a.op = ordered;
         a.send.count = a.receive.count = 1);
    WITH("a type that is not committed, no elements", a.send.type = a.receive.type = uncommitted; a.op = ordered;
         a.send.count = a.receive.count = 0);
    WITH("no type, no elements", a.send.type = a.receive.type = MPI_DATATYPE_NULL;
         a.send.count = a.receive.count = 0);
    if (!current->reduces) {
        WITH("no buffers, no elements", a.send.data = a.receive.data = NULL; a.send.count = a.receive.count = 0);
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
    WITH("no operator, no elements", a.op = MPI_OP_NULL; a.receive.count = 0);
    WITH("a sum of a derived type", a.receive.type = pairs; a.receive.count = 1);
    WITH("a sum of a derived type, no elements", a.receive.type = pairs; a.receive.count = 0);
    WITH("a maximum of complex numbers", a.receive.type = MPI_C_DOUBLE_COMPLEX; a.op = MPI_MAX;
         a.receive.count = 1);
    WITH("bits of doubles", a.receive.type = MPI_DOUBLE; a.op = MPI_BAND; a.receive.count = 1);
    WITH("a sum of bytes", a.receive.type = MPI_BYTE);
    WITH("a sum of pairs", a.receive.type = MPI_2INT; a.receive.count = 1);
    WITH("where of ints", a.op = MPI_MINLOC);
    WITH("a sum of characters", a.receive.type = MPI_CHAR);
    WITH("what is replaced", a.op = MPI_REPLACE);
}

/* Only where each rank is answered alike, and at once. */
static void wrong_places(const struct collective* it) {
    if (it->run == broadcast) {
        WITH("one with gaps that is not committed", a.receive.type = gaps; a.receive.count = 1);
    }
    if (it->reduces && it->run != reduce && it->run != exscan) {
        WITH("a result in place", a.receive.data = MPI_IN_PLACE);
    }
    if (it->uneven && !it->rooted) {
        WITH("no counts or types for ranks", bare = 1);
    }
    if (it->run == gatherv) {
        WITH("more than the root takes", a.send.count *= world_rank == world_size - 1 ? 2 : 1);
    }
    if (it->run == scatterv) {
        WITH("more than its receiver takes", a.receive.count /= world_rank == 0 ? 1 : 2);
    }
    if (it->run == allgather || it->run == allgatherv) {
        WITH("what is sent lies where it goes", a.send.data = received + world_rank * length);
    } else if (!it->rooted) {
        WITH("both in one place", a.send.data = a.receive.data);
        WITH("both in one place, no elements", a.send.data = a.receive.data; a.send.count = a.receive.count = 0);
    }
    if (it->run == exscan) {
        WITH("long operands in one place", a.send.data = a.receive.data; a.receive.count = room);
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
    for (int i = 0; i < collective_count; ++i) {
        current = &collectives[i];
        int wanted = argc == 1;
        for (int word = 1; word < argc; ++word) {
            wanted |= strcmp(argv[word], current->name) == 0;
        }
        if (!wanted) {
            continue;
        }
        call_rightly();
        WITH("no communicator", a.comm = MPI_COMM_NULL);
        if (current->gives) wrong_counts_and_types();
        if (current->rooted) wrong_roots();
        if (current->reduces) wrong_operators();
        wrong_places(current);
    }
    MPI_Op_free(&ordered);
    MPI_Type_free(&pairs);
    MPI_Type_free(&gaps);
    MPI_Type_free(&uncommitted);
    end("");
    return 0;
}
