// Errors of MPI functions: the program's own are raised as MPI does it, and what mutirao tries on a program's communicator
// must not end the program.
#pragma once

#include <mpi.h>

namespace mutirao::mpi {

/// Invokes the communicator's error handler, as MPI's own functions do, and returns the code.
inline int raise_on(MPI_Comm comm, int error) {
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

/// As long as it lives, errors are returned, whatever the program wants of its communicator.
class ErrorsReturned {
  public:
    explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm_, &before_);
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~ErrorsReturned() {
        PMPI_Comm_set_errhandler(comm_, before_);
        PMPI_Errhandler_free(&before_);
    }
    ErrorsReturned(const ErrorsReturned&) = delete;
    ErrorsReturned& operator=(const ErrorsReturned&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace mutirao::mpi
