// A nonblocking collective of ours on one of the program's communicators: begun inside one call, completed in a later
// one, whatever becomes of the communicator meanwhile.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "mpi/base/waiting.h"

namespace mutirao::mpi {

class Pending {
  public:
    /// `memory` is what the collective reads and writes.
    Pending(MPI_Comm comm, MPI_Request request, std::shared_ptr<void> memory)
        : comm_(comm), request_(request), memory_(std::move(memory)) {}

    /// Does not block.
    bool complete() {
        int done = 0;
        return PMPI_Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    }

    void wait() {
        const double begun_us = now_us();
        for (Patience patience; !complete();) {
            patience.rest();
            say_if_long(begun_us);
        }
    }

    MPI_Comm comm() const { return comm_; }
    /// For who completes it when the communicator is freed before. In Open MPI a nonblocking collective that is under way
    /// does not keep its communicator alive, as it must (MPI-4.1, 7.4.3), and a persistent request does, but by UCX
    /// (Job::complete_on).
    void keep_communicator() {
        MPI_Request keeper = MPI_REQUEST_NULL;
        if (request_ != MPI_REQUEST_NULL) {
            PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, comm_, &keeper);
        }
        memory_ = {memory_.get(), [memory = memory_, keeper](void*) mutable {
                       memory.reset();
                       if (keeper != MPI_REQUEST_NULL) {
                           PMPI_Request_free(&keeper);
                       }
                   }};
    }

  private:
    MPI_Comm comm_;
    MPI_Request request_;
    std::shared_ptr<void> memory_;
};

}  // namespace mutirao::mpi
