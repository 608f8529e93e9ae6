// A nonblocking collective of ours on one of the program's communicators: begun inside one call, completed in a later
// one, whatever becomes of the communicator meanwhile.
#pragma once

#include <mpi.h>

#include <memory>

namespace mutirao::mpi {

class Pending {
  public:
    /// `memory` is what the collective reads and writes.
    Pending(MPI_Comm comm, MPI_Request request, std::shared_ptr<void> memory)
        : comm_(comm), request_(request), memory_(std::move(memory)) {}

    /// Does not block.
    bool complete();

    /// For who completes it when the communicator is freed before: the request, and what must live until then.
    MPI_Request request() const { return request_; }
    std::shared_ptr<void> give_up() const;

  private:
    MPI_Comm comm_;
    MPI_Request request_;
    std::shared_ptr<void> memory_;
};

}  // namespace mutirao::mpi
