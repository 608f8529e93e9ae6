/* unusual_types WHAT: correct programs with datatypes as few have them, each checking its own results.
 * types: that begin below their address, differ between ranks, are of no size; both buffers in one struct.
 * large_counts: types that MPI 4's functions with large counts made, which MPI_Type_get_envelope refuses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
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
enum { described = 600 };

/* Ranks other than the root describe the same data plainly, and the other way round. */
static void broadcast_by(MPI_Datatype type, const char* name) {
    int data[described];
    for (int call = 0; call < 2 * world_size; ++call) {
        const int root = call % world_size;
        for (int i = 0; i < described; ++i) {
            data[i] = world_rank == root ? value_at(i, root, call) : -1;
        }
        if ((world_rank == root) == (call < world_size)) {
            MPI_Bcast(data, 1, type, root, MPI_COMM_WORLD);
        } else {
            MPI_Bcast(data, described, MPI_INT, root, MPI_COMM_WORLD);
        }
        for (int i = 0; i < described; ++i) {
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
    const MPI_Count lengths[2] = {described / 2, described / 2};
    const MPI_Count places[2] = {0, described / 2};
    MPI_Type_contiguous_c(described, MPI_INT, &block);
    MPI_Type_contiguous_c(described / 3, MPI_INT, &third);
    MPI_Type_dup(block, &made);
    broadcast_and_free(made, "a dup of contiguous_c");
    MPI_Type_contiguous(3, third, &made);
    broadcast_and_free(made, "contiguous of contiguous_c");
    MPI_Type_contiguous_c(3, third, &made);
    broadcast_and_free(made, "contiguous_c of contiguous_c");
    MPI_Type_vector_c(described / 4, 4, 4, MPI_INT, &made);
    broadcast_and_free(made, "vector_c without gaps");
    MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made);
    broadcast_and_free(made, "indexed_c without gaps");
    MPI_Type_create_resized_c(block, 0, described * (MPI_Count)sizeof(int), &made);
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

/* --- functions that are looked up ---------------------------------------------------------------------------------- */

/* Null if there is none. */
static void look_up(const char* name, void* function) {
    void* const address = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &address, sizeof address);
}

enum { most_ranks = 16 };

static void* const nowhere = (void*)8;

typedef int broadcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
typedef int scatterv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                       int, MPI_Comm);

/* From the first rank to all others. */
static void between_groups(scatterv_c* scatterv) {
    const int is_first = world_rank == 0;
    MPI_Comm group, between;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 7, &between);
    MPI_Count counts[most_ranks];
    MPI_Aint places[most_ranks];
    int from[most_ranks], mine = -1;
    for (int rank = 0; rank < world_size; ++rank) {
        from[rank] = 100 + rank;
        counts[rank] = 1;
        places[rank] = rank;
    }
    scatterv(from, is_first ? counts : nowhere, is_first ? places : nowhere, MPI_INT, &mine, 1, MPI_INT,
             is_first ? MPI_ROOT : 0, between);
    expect(is_first || mine == 100 + world_rank - 1, "wrong data scattered between groups", mine);
    MPI_Comm_free(&between);
    MPI_Comm_free(&group);
}

static void too_large(broadcast_c* broadcast) {
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char byte = 0;
    const int error = broadcast(&byte, (MPI_Count)INT_MAX + 1, nothing, 0, MPI_COMM_WORLD);
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    expect(version >= 4 ? class == MPI_SUCCESS : class == MPI_ERR_COUNT, "an error that is none, or none", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&nothing);
}

/* A program that looks whether the functions with large counts are there, as mpi4py does, and uses them if so. Every array
 * that means nothing on a rank points nowhere. */
static void looks_for_large_counts(void) {
    broadcast_c* broadcast;
    scatterv_c* scatterv;
    look_up("MPI_Bcast_c", &broadcast);
    look_up("PMPI_Scatterv_c", &scatterv);
    if (broadcast == NULL) {
        strcpy(said, "none");
        return;
    }
    for (int root = 0; root < world_size; ++root) {
        int value = world_rank == root ? root : -1;
        broadcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        expect(value == root, "wrong data broadcast", value);
    }
    between_groups(scatterv);
    too_large(broadcast);
    strcpy(said, "used");
}

/* --- device buffers ------------------------------------------------------------------------------------------------- */

static void* (*allocate)(size_t bytes);
static void (*transfer)(void* to, const void* from, size_t bytes);

static int* buffer_of(int ints) {
    const size_t bytes = (size_t)ints * sizeof(int);
    return world_rank % 2 == 0 ? allocate(bytes) : malloc(bytes);
}

static void put_on_device(int* buffer, int ints, int first) {
    int* const values = malloc((size_t)ints * sizeof(int));
    for (int i = 0; i < ints; ++i) {
        values[i] = first + i;
    }
    transfer(buffer, values, (size_t)ints * sizeof(int));
    free(values);
}

static void expect_on_device(const int* buffer, int ints, int first, int step, const char* what) {
    int* const values = malloc((size_t)ints * sizeof(int));
    transfer(values, buffer, (size_t)ints * sizeof(int));
    for (int i = 0; i < ints; ++i) {
        expect(values[i] == first + step * i, what, i);
    }
    free(values);
}

/* Collectives on memory that no processor may touch, as a graphics card's is, but through the MPI library's own MPI_Pack
 * and MPI_Unpack. A small driver is preloaded (test_device_buffers.py) that has such memory; ranks with odd numbers use
 * memory of the host in the same calls. */
static void device_buffers(void) {
    enum { count = 300 };
    look_up("fake_device_allocate", &allocate);
    look_up("fake_device_transfer", &transfer);
    expect(allocate != NULL && transfer != NULL, "the driver is not there", 0);
    int* const mine = buffer_of(count);
    int* const all = buffer_of(count * world_size);
    for (int call = 0; call < 20; ++call) {
        const int root = call % world_size;
        put_on_device(mine, count, world_rank == root ? call : -1);
        MPI_Bcast(mine, count, MPI_INT, root, MPI_COMM_WORLD);
        expect_on_device(mine, count, call, 1, "wrong data broadcast");
        MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect_on_device(all, count, world_size * call, world_size, "wrong sum");
        MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect_on_device(mine, count, world_size * call, world_size, "wrong sum in place");
        put_on_device(mine, count, world_rank * count);
        MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
        expect_on_device(all, count * world_size, 0, 1, "wrong data gathered");
        put_on_device(all, count * world_size, 7);
        MPI_Scatter(all, count, MPI_INT, mine, count, MPI_INT, root, MPI_COMM_WORLD);
        expect_on_device(mine, count, 7 + world_rank * count, 1, "wrong data scattered");
    }
}

int main(int argc, char** argv) {
    static const struct use uses[] = {{"types", types},
                                      {"large_counts", large_counts},
                                      {"empty_on_root", empty_on_root},
                                      {"empty_elsewhere", empty_elsewhere},
                                      {"looks_for_large_counts", looks_for_large_counts},
                                      {"device_buffers", device_buffers},
                                      {NULL, NULL}};
    return run_use(argc, argv, uses);
}
