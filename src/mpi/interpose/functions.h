// The table from which the entry points of the collectives are made.
#pragma once

// What a call sends or receives, as parameters and as arguments: one block, or one for every rank.
#define MUTIRAO_SEND(COUNT) const void *send, COUNT send_count, Type send_type
#define MUTIRAO_SENT send, send_count, send_type
#define MUTIRAO_RECEIVE(COUNT) void *receive, COUNT receive_count, Type receive_type
#define MUTIRAO_RECEIVED receive, receive_count, receive_type
#define MUTIRAO_SEND_EACH(COUNT, PLACE, TYPE) \
    const void *send, const COUNT *send_counts, const PLACE *send_places, TYPE send_type
#define MUTIRAO_SENT_EACH send, send_counts, send_places, send_type
#define MUTIRAO_RECEIVE_EACH(COUNT, PLACE, TYPE) \
    void *receive, const COUNT *receive_counts, const PLACE *receive_places, TYPE receive_type
#define MUTIRAO_RECEIVED_EACH receive, receive_counts, receive_places, receive_type
#define MUTIRAO_REDUCE(COUNT) const void *send, void *receive, COUNT count, Type type, Op op
#define MUTIRAO_REDUCED send, receive, count, type, op

/// The collectives that mutirao handles: MPI's name and ours, parameters and arguments. COUNT and PLACE, a displacement, are
/// int, or MPI_Count and MPI_Aint in the form with _c.
#define MUTIRAO_COLLECTIVES(ROW, COUNT, PLACE)                                                                         \
    ROW(Bcast, broadcast, (MUTIRAO_RECEIVE(COUNT), Root root, Comm comm), (MUTIRAO_RECEIVED, root, comm))              \
    ROW(Gather, gather, (MUTIRAO_SEND(COUNT), MUTIRAO_RECEIVE(COUNT), Root root, Comm comm),                           \
        (MUTIRAO_SENT, MUTIRAO_RECEIVED, root, comm))                                                                  \
    ROW(Scatter, scatter, (MUTIRAO_SEND(COUNT), MUTIRAO_RECEIVE(COUNT), Root root, Comm comm),                         \
        (MUTIRAO_SENT, MUTIRAO_RECEIVED, root, comm))                                                                  \
    ROW(Allgather, allgather, (MUTIRAO_SEND(COUNT), MUTIRAO_RECEIVE(COUNT), Comm comm),                                \
        (MUTIRAO_SENT, MUTIRAO_RECEIVED, comm))                                                                        \
    ROW(Alltoall, alltoall, (MUTIRAO_SEND(COUNT), MUTIRAO_RECEIVE(COUNT), Comm comm),                                  \
        (MUTIRAO_SENT, MUTIRAO_RECEIVED, comm))                                                                        \
    ROW(Reduce, reduce, (MUTIRAO_REDUCE(COUNT), Root root, Comm comm), (MUTIRAO_REDUCED, root, comm))                  \
    ROW(Allreduce, allreduce, (MUTIRAO_REDUCE(COUNT), Comm comm), (MUTIRAO_REDUCED, comm))                             \
    ROW(Reduce_scatter_block, reduce_scatter_block, (MUTIRAO_REDUCE(COUNT), Comm comm), (MUTIRAO_REDUCED, comm))       \
    ROW(Reduce_scatter, reduce_scatter, (MUTIRAO_REDUCE(const COUNT*), Comm comm), (MUTIRAO_REDUCED, comm))            \
    ROW(Scan, scan, (MUTIRAO_REDUCE(COUNT), Comm comm), (MUTIRAO_REDUCED, comm))                                       \
    ROW(Exscan, exscan, (MUTIRAO_REDUCE(COUNT), Comm comm), (MUTIRAO_REDUCED, comm))                                   \
    ROW(Gatherv, gatherv, (MUTIRAO_SEND(COUNT), MUTIRAO_RECEIVE_EACH(COUNT, PLACE, Type), Root root, Comm comm),       \
        (MUTIRAO_SENT, MUTIRAO_RECEIVED_EACH, root, comm))                                                             \
    ROW(Scatterv, scatterv, (MUTIRAO_SEND_EACH(COUNT, PLACE, Type), MUTIRAO_RECEIVE(COUNT), Root root, Comm comm),     \
        (MUTIRAO_SENT_EACH, MUTIRAO_RECEIVED, root, comm))                                                             \
    ROW(Allgatherv, allgatherv, (MUTIRAO_SEND(COUNT), MUTIRAO_RECEIVE_EACH(COUNT, PLACE, Type), Comm comm),            \
        (MUTIRAO_SENT, MUTIRAO_RECEIVED_EACH, comm))                                                                   \
    ROW(Alltoallv, alltoallv,                                                                                          \
        (MUTIRAO_SEND_EACH(COUNT, PLACE, Type), MUTIRAO_RECEIVE_EACH(COUNT, PLACE, Type), Comm comm),                  \
        (MUTIRAO_SENT_EACH, MUTIRAO_RECEIVED_EACH, comm))                                                              \
    ROW(Alltoallw, alltoallw,                                                                                          \
        (MUTIRAO_SEND_EACH(COUNT, PLACE, const MPI_Datatype*),                                                         \
         MUTIRAO_RECEIVE_EACH(COUNT, PLACE, const MPI_Datatype*), Comm comm),                                          \
        (MUTIRAO_SENT_EACH, MUTIRAO_RECEIVED_EACH, comm))

/// Those that count nothing, and so have no other form.
#define MUTIRAO_COLLECTIVES_WITHOUT_COUNTS(ROW) ROW(Barrier, barrier, (Comm comm), (comm))
