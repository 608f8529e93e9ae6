// The table from which the entry points of the collectives are made.
#pragma once

/// The collectives that mutirao handles: MPI's name, the function of src/mpi/collectives that takes the
/// call, its parameters and arguments. COUNT is int, or MPI_Count in the form with _c.
#define MUTIRAO_COLLECTIVES(ROW, COUNT)                                                       \
    ROW(Bcast, broadcast,                                                                     \
        (void* buffer, COUNT count, Type type, int root, Comm comm),                          \
        (buffer, count, type, root, comm))
