// The table from which the entry points of the collectives are made.
#pragma once

/// The collectives that mutirao handles: MPI's name, the function of src/mpi/collectives that takes the
/// call, its parameters and arguments. COUNT and PLACE, a displacement, are int, or MPI_Count and MPI_Aint in
/// the form with _c.
#define MUTIRAO_COLLECTIVES(ROW, COUNT, PLACE)                                                \
    ROW(Bcast, broadcast,                                                                     \
        (void* buffer, COUNT count, Type type, int root, Comm comm),                          \
        (buffer, count, type, root, comm))                                                    \
    ROW(Gather, gather,                                                                       \
        (const void* send, COUNT send_count, Type send_type, void* receive,                   \
         COUNT receive_count, Type receive_type, int root, Comm comm),                        \
        (send, send_count, send_type, receive, receive_count, receive_type, root, comm))      \
    ROW(Scatter, scatter,                                                                     \
        (const void* send, COUNT send_count, Type send_type, void* receive,                   \
         COUNT receive_count, Type receive_type, int root, Comm comm),                        \
        (send, send_count, send_type, receive, receive_count, receive_type, root, comm))      \
    ROW(Allgather, allgather,                                                                 \
        (const void* send, COUNT send_count, Type send_type, void* receive,                   \
         COUNT receive_count, Type receive_type, Comm comm),                                  \
        (send, send_count, send_type, receive, receive_count, receive_type, comm))            \
    ROW(Alltoall, alltoall,                                                                   \
        (const void* send, COUNT send_count, Type send_type, void* receive,                   \
         COUNT receive_count, Type receive_type, Comm comm),                                  \
        (send, send_count, send_type, receive, receive_count, receive_type, comm))            \
    ROW(Reduce, reduce,                                                                       \
        (const void* send, void* receive, COUNT count, Type type, Op op, int root,            \
         Comm comm),                                                                          \
        (send, receive, count, type, op, root, comm))                                         \
    ROW(Allreduce, allreduce,                                                                 \
        (const void* send, void* receive, COUNT count, Type type, Op op, Comm comm),          \
        (send, receive, count, type, op, comm))                                               \
    ROW(Reduce_scatter_block, reduce_scatter_block,                                           \
        (const void* send, void* receive, COUNT count, Type type, Op op, Comm comm),          \
        (send, receive, count, type, op, comm))                                               \
    ROW(Scan, scan,                                                                           \
        (const void* send, void* receive, COUNT count, Type type, Op op, Comm comm),          \
        (send, receive, count, type, op, comm))                                               \
    ROW(Exscan, exscan,                                                                       \
        (const void* send, void* receive, COUNT count, Type type, Op op, Comm comm),          \
        (send, receive, count, type, op, comm))                                               \
    ROW(Gatherv, gatherv,                                                                     \
        (const void* send, COUNT send_count, Type send_type, void* receive,                   \
         const COUNT* receive_counts, const PLACE* displacements, Type receive_type, int root,\
         Comm comm),                                                                          \
        (send, send_count, send_type, receive, receive_counts, displacements, receive_type, root,\
         comm))                                                                               \
    ROW(Scatterv, scatterv,                                                                   \
        (const void* send, const COUNT* send_counts, const PLACE* displacements, Type send_type,\
         void* receive, COUNT receive_count, Type receive_type, int root, Comm comm),         \
        (send, send_counts, displacements, send_type, receive, receive_count, receive_type, root,\
         comm))                                                                               \
    ROW(Allgatherv, allgatherv,                                                               \
        (const void* send, COUNT send_count, Type send_type, void* receive,                   \
         const COUNT* receive_counts, const PLACE* displacements, Type receive_type, Comm comm),\
        (send, send_count, send_type, receive, receive_counts, displacements, receive_type, comm))\
    ROW(Alltoallv, alltoallv,                                                                 \
        (const void* send, const COUNT* send_counts, const PLACE* send_displacements,         \
         Type send_type, void* receive, const COUNT* receive_counts,                          \
         const PLACE* receive_displacements, Type receive_type, Comm comm),                   \
        (send, send_counts, send_displacements, send_type, receive, receive_counts,           \
         receive_displacements, receive_type, comm))                                          \
    ROW(Alltoallw, alltoallw,                                                                 \
        (const void* send, const COUNT* send_counts, const PLACE* send_displacements,         \
         const MPI_Datatype* send_types, void* receive, const COUNT* receive_counts,          \
         const PLACE* receive_displacements, const MPI_Datatype* receive_types, Comm comm),   \
        (send, send_counts, send_displacements, send_types, receive, receive_counts,          \
         receive_displacements, receive_types, comm))                                         \
    ROW(Reduce_scatter, reduce_scatter,                                                       \
        (const void* send, void* receive, const COUNT* counts, Type type, Op op, Comm comm),  \
        (send, receive, counts, type, op, comm))

/// Those that count nothing, and so have no other form.
#define MUTIRAO_COLLECTIVES_WITHOUT_COUNTS(ROW) ROW(Barrier, barrier, (Comm comm), (comm))
