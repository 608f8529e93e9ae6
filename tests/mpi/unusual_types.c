/* unusual_types WHAT: correct programs with datatypes as few have them, each checking its own results.
 * operators: they take long, ask for the type's extent, do not commute, work on absolute addresses.
 * types: that begin below their address, differ between ranks, are of no size; both buffers in one struct.
 * large_counts: types that MPI 4's functions with large counts made, which MPI_Type_get_envelope refuses. */
#include <stddef.h>

#include "checked.h"

/* --- operators ------------------------------------------------------------------------------------------------------ */

struct map { /* x -> ax + b */
    short a;
    double b;
};

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    MPI_Type_get_true_extent(*type, &true_lower, &true_extent);
    usleep(2000);
    for (int i = 0; i < *count; ++i) {
        const struct map* const first = (const void*)((char*)in + true_lower + i * extent);
        struct map* const second = (void*)((char*)inout + true_lower + i * extent);
        expect((size_t)first % _Alignof(struct map) == 0 && (size_t)second % _Alignof(struct map) == 0,
               "an operator was given what is not aligned", i);
        second->b += second->a * first->b;
        second->a = (short)(second->a * first->a % 101);
    }
}

/* Of maps at `at`; of what lies at addresses if `at` is null. */
static MPI_Datatype type_of_maps(const struct map* from, MPI_Aint shift) {
    MPI_Datatype plain, sized;
    const int lengths[] = {1, 1};
    MPI_Aint base = 0;
    if (from != NULL) {
        MPI_Get_address(from, &base);
    }
    const MPI_Aint offsets[] = {base + shift + (MPI_Aint)offsetof(struct map, a),
                                base + shift + (MPI_Aint)offsetof(struct map, b)};
    const MPI_Datatype types[] = {MPI_SHORT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, offsets, types, &plain);
    MPI_Type_create_resized(plain, base + shift, sizeof(struct map), &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&plain);
    return sized;
}

static void compose_all(const void* send, void* receive, MPI_Datatype type, const struct map* mine,
                        struct map* result, MPI_Op op, int count) {
    struct map right = {1, 0};
    for (int rank = 0; rank < world_size; ++rank) {
        const struct map its = {(short)(rank + 2), rank * 3 + 1};
        right.b = rank == 0 ? its.b : its.b + its.a * right.b;
        right.a = (short)(its.a * right.a % 101);
    }
    for (int call = 0; call < 3; ++call) {
        for (int i = 0; i < count; ++i) {
            ((struct map*)mine)[i] = (struct map){(short)(world_rank + 2), world_rank * 3 + 1};
            result[i] = (struct map){-1, -1};
        }
        const int root = call % world_size;
        if (call == 0) MPI_Allreduce(send, receive, count, type, op, MPI_COMM_WORLD);
        if (call == 1) MPI_Reduce(send, receive, count, type, op, root, MPI_COMM_WORLD);
        if (call == 2) MPI_Scan(send, receive, count, type, op, MPI_COMM_WORLD);
        if (call == 0 || (call == 1 && world_rank == root) || (call == 2 && world_rank == world_size - 1)) {
            for (int i = 0; i < count; ++i) {
                expect(result[i].a == right.a && result[i].b == right.b, "wrong composition", call * 100 + i);
            }
        }
    }
}

static void operators(void) {
    struct map mine[8], result[8];
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    MPI_Datatype type = type_of_maps(NULL, 0);
    compose_all(mine, result, type, mine, result, op, 8);
    MPI_Type_free(&type);
    const MPI_Aint ahead = 2 * sizeof(struct map);
    type = type_of_maps(NULL, -ahead);
    compose_all((char*)mine + ahead, (char*)result + ahead, type, mine, result, op, 8);
    MPI_Type_free(&type);
    type = type_of_maps(mine, 0); /* in place, at an absolute address */
    for (int i = 0; i < 8; ++i) {
        mine[i] = (struct map){(short)(world_rank + 2), world_rank * 3 + 1};
    }
    MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 8, type, op, MPI_COMM_WORLD);
    expect(mine[7].a == mine[0].a && mine[7].b == mine[0].b && mine[0].a != world_rank + 2, "wrong in place", 0);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
}

/* --- types ------------------------------------------------------------------------------------------------------------ */

/* Three ints, of which the second lies two ints below the address. */
static MPI_Datatype backwards(void) {
    const int lengths[] = {1, 1, 1}, offsets[] = {0, -2, 1};
    MPI_Datatype made;
    MPI_Type_indexed(3, lengths, offsets, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
}

static void of_different_types(int times) {
    MPI_Datatype plain, lower = backwards();
    MPI_Type_contiguous(3, MPI_INT, &plain);
    MPI_Type_commit(&plain);
    for (int time = 0; time < times; ++time) {
        const int odd = (world_rank + time) % 2;
        int out[3], in[200];
        memset(in, -1, sizeof in);
        for (int i = 0; i < 3; ++i) {
            out[odd && i > 0 ? (i == 1 ? 0 : 2) : odd ? 1 : i] = world_rank * 10 + i;
        }
        /* The extent of `lower` is that from -2 to 2: four ints. */
        out[2] = odd ? -1 : out[2];
        int wide[4] = {world_rank * 10 + 1, -1, world_rank * 10, world_rank * 10 + 2};
        const void* const send = odd ? (void*)(wide + 2) : (void*)out;
        MPI_Allgather(send, 1, odd ? lower : plain, odd ? in + 2 : in, 1, odd ? lower : plain, MPI_COMM_WORLD);
        for (int rank = 0; rank < world_size; ++rank) {
            const int* const block = odd ? in + 4 * rank : in + 3 * rank;
            expect(block[odd ? 2 : 0] == rank * 10, "wrong first", time);
            expect(block[odd ? 0 : 1] == rank * 10 + 1, "wrong second", time);
            expect(block[odd ? 3 : 2] == rank * 10 + 2, "wrong third", time);
            expect(!odd || block[1] == -1, "wrote into a gap", time);
        }
    }
    MPI_Type_free(&plain);
    MPI_Type_free(&lower);
}

/* Not with a count of 0 on one side only: MPICH then mixes up what follows. */
static void of_no_size(void) {
    MPI_Datatype nothing;
    int value = -1, all[64] = {-1};
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    for (int root = 0; root < world_size; ++root) {
        MPI_Gather(&value, 5, nothing, all, 2, nothing, root, MPI_COMM_WORLD);
        MPI_Scatter(all, 2, nothing, &value, 2, nothing, root, MPI_COMM_WORLD);
        MPI_Allgather(&value, 1, nothing, all, 7, nothing, MPI_COMM_WORLD);
        MPI_Alltoall(&value, 3, nothing, all, 2, nothing, MPI_COMM_WORLD);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, 4, nothing, MPI_COMM_WORLD);
        expect(value == -1 && all[0] == -1, "no data wrote something", root);
    }
    MPI_Type_free(&nothing);
}

/* One field of each record goes into the other field of the same: one address, and no byte in common. */
static void within_one_struct(void) {
    struct record {
        int ours, all;
    } records[64];
    MPI_Datatype field, all;
    const int one = 1;
    const MPI_Aint offset = (MPI_Aint)offsetof(struct record, all);
    MPI_Type_create_hindexed(1, &one, &offset, MPI_INT, &field);
    MPI_Type_create_resized(field, 0, sizeof(struct record), &all);
    MPI_Type_commit(&all);
    for (int root = 0; root < world_size; ++root) {
        records[0].ours = world_rank + 5;
        MPI_Gather(records, 1, MPI_INT, records, 1, all, root, MPI_COMM_WORLD);
        for (int i = 0; i < world_size && world_rank == root; ++i) {
            expect(records[i].all == i + 5, "wrong data within one struct", i);
            records[i].all += 10;
        }
        MPI_Scatter(records, 1, all, records, 1, MPI_INT, root, MPI_COMM_WORLD);
        expect(records[0].ours == world_rank + 15, "wrong data scattered within one struct", records[0].ours);
    }
    MPI_Type_free(&field);
    MPI_Type_free(&all);
}

static void types(void) {
    of_different_types(6);
    of_no_size();
    within_one_struct();
    broadcasts_checked(MPI_COMM_WORLD, 8);
}

/* --- large counts ----------------------------------------------------------------------------------------------------- */

#if MPI_VERSION >= 4
enum { ints = 600 };

/* Ranks other than the root describe the same data plainly, and the other way round. */
static void broadcast_by(MPI_Datatype type, const char* name) {
    int data[ints];
    for (int call = 0; call < 2 * world_size; ++call) {
        const int root = call % world_size;
        for (int i = 0; i < ints; ++i) {
            data[i] = world_rank == root ? value_at(i, root, call) : -1;
        }
        if ((world_rank == root) == (call < world_size)) {
            MPI_Bcast(data, 1, type, root, MPI_COMM_WORLD);
        } else {
            MPI_Bcast(data, ints, MPI_INT, root, MPI_COMM_WORLD);
        }
        for (int i = 0; i < ints; ++i) {
            expect(data[i] == value_at(i, root, call), name, i);
        }
    }
}

static void broadcast_and_free(MPI_Datatype type, const char* name) {
    MPI_Type_commit(&type);
    broadcast_by(type, name);
    MPI_Type_free(&type);
}

static void large_counts(void) {
    MPI_Datatype block, third, made;
    const MPI_Count lengths[2] = {ints / 2, ints / 2};
    const MPI_Count places[2] = {0, ints / 2};
    MPI_Type_contiguous_c(ints, MPI_INT, &block);
    MPI_Type_contiguous_c(ints / 3, MPI_INT, &third);
    MPI_Type_dup(block, &made);
    broadcast_and_free(made, "a dup of contiguous_c");
    MPI_Type_contiguous(3, third, &made);
    broadcast_and_free(made, "contiguous of contiguous_c");
    MPI_Type_contiguous_c(3, third, &made);
    broadcast_and_free(made, "contiguous_c of contiguous_c");
    MPI_Type_vector_c(ints / 4, 4, 4, MPI_INT, &made);
    broadcast_and_free(made, "vector_c without gaps");
    MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made);
    broadcast_and_free(made, "indexed_c without gaps");
    MPI_Type_create_resized_c(block, 0, ints * (MPI_Count)sizeof(int), &made);
    broadcast_and_free(made, "resized_c to the same extent");
    broadcast_and_free(block, "contiguous_c");
    MPI_Type_free(&third);
}
#else
static void large_counts(void) { strcpy(said, "skipped: no large counts"); }
#endif

/* --- empty messages ---------------------------------------------------------------------------------------------- */

/* Messages of no bytes that ranks spell differently: 3 elements of a type of size zero on the root, or elsewhere, and
 * count 0 on the others. The very first call is one. Others in between must find their data. */
static void empty_messages(int on_root) {
    MPI_Datatype nothing;
    int three[3] = {-5, -6, -7};
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    for (int round = 0; round < 40; ++round) {
        const int root = round % world_size;
        const int by_type = (world_rank == root) == on_root;
        MPI_Bcast(three, by_type ? 3 : 0, by_type ? nothing : MPI_INT, root, MPI_COMM_WORLD);
        expect(three[0] == -5 && three[1] == -6 && three[2] == -7, "an empty message was written", round);
        if (round % 3 == 2) {
            broadcast_checked(MPI_COMM_WORLD, root, 10 + round, round);
        }
    }
    MPI_Type_free(&nothing);
}

static void empty_on_root(void) { empty_messages(1); }
static void empty_elsewhere(void) { empty_messages(0); }

int main(int argc, char** argv) {
    static const struct use uses[] = {{"operators", operators},
                                      {"types", types},
                                      {"large_counts", large_counts},
                                      {"empty_on_root", empty_on_root},
                                      {"empty_elsewhere", empty_elsewhere},
                                      {NULL, NULL}};
    return run_use(argc, argv, uses);
}
