// The functions behind ours: the MPI library's, or those of a tool that was preloaded after us. They
// take handles as whole machine words, as src/preload hands them on.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mutirao::mpi {

/// A machine word in which a handle came in; it becomes a handle where one is wanted. Passed in a register
/// like the handle itself. `kind` tells handles apart
/// that are all int in MPICH's binary interface.
enum class HandleKind : unsigned char { comm, type, op };

template <typename Own, HandleKind kind>
struct Foreign {
    std::uintptr_t word;

    operator Own() const {
        if constexpr (std::is_pointer_v<Own>) {
            return std::bit_cast<Own>(word);
        } else {
            return static_cast<Own>(word);
        }
    }
};

template <typename Own>
std::uintptr_t as_word(Own handle) {
    if constexpr (std::is_pointer_v<Own>) {
        return std::bit_cast<std::uintptr_t>(handle);
    } else {
        return static_cast<std::uintptr_t>(handle);
    }
}

/// The next definition of `name` after what is preloaded of ours, in the search order; null if there is none.
void* next_function(const char* name);

template <typename Function>
Function next(const char* name) {
    void* const address = next_function(name);
    Function function = nullptr;
    static_assert(sizeof address == sizeof function);
    std::memcpy(&function, &address, sizeof address);
    return function;
}

/// Whether code at this address is the MPI library's own: ROMIO, inside MPICH, broadcasts by the same
/// functions as the program.
bool is_mpi_library(const void* address);

// Errors of MPI functions: the program's own are raised as MPI does it, and what mutirao tries on a program's communicator
// must not end the program.

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
