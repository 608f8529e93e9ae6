// What the executor calls here to look for messages: a look in vain costs nothing in simulated time, so that it
// would look for ever; a rank sleeps until they are there. MPI_Waitsome would ask for each of the others, too,
// which takes the simulator longer than all the rest; and MPI_Waitany finishes anew all that have come, each time by a
// walk along all sends under way, so that it is called only where none has come.
#pragma once

#include <mpi.h>
#include <sched.h>

inline int wait_for_one(int count, MPI_Request* requests, int* done, int* which, MPI_Status* statuses) {
    *done = 1;
    for (*which = 0; *which < count; ++*which) {
        int complete = 0;
        const int error = requests[*which] == MPI_REQUEST_NULL
                              ? MPI_SUCCESS
                              : PMPI_Test(&requests[*which], &complete, statuses);
        if (complete != 0 || error != MPI_SUCCESS) return error;
    }
    const int error = PMPI_Waitany(count, requests, which, statuses);
    if (*which == MPI_UNDEFINED) *done = MPI_UNDEFINED;
    return error;
}

inline int wait_for_it(MPI_Request* request, int* done, MPI_Status* status) {
    *done = 1;
    return PMPI_Wait(request, status);
}

inline int wait_for_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
    *done = 1;
    return PMPI_Waitall(count, requests, statuses);
}

#define PMPI_Testsome wait_for_one
#define PMPI_Test wait_for_it
#define PMPI_Testall wait_for_all
// Nor is there anybody to make way for: who waits has waited already.
inline int make_no_way() { return 0; }
#define sched_yield() make_no_way()
