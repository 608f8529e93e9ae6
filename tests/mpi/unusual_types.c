/* unusual_types WHAT: correct programs with datatypes as few have them, each checking its own results.
 * types: that begin below their address, differ between ranks, are of no size; both buffers in one struct.
 * large_counts: types that MPI 4's functions with large counts made, which MPI_Type_get_envelope refuses. */
#include <stddef.h>

#include "checked.h"

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
    static const struct use uses[] = {{"types", types},
                                      {"large_counts", large_counts},
                                      {"empty_on_root", empty_on_root},
                                      {"empty_elsewhere", empty_elsewhere},
                                      {NULL, NULL}};
    return run_use(argc, argv, uses);
}
