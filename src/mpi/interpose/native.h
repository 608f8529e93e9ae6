// The functions behind ours: the MPI library's, or those of a tool that was preloaded after us. They
// take handles as whole machine words: what passes through unread may be a handle of another binary
// interface, an int where ours is a pointer or the reverse, and must arrive as it came.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mutirao::mpi {

/// A machine word in which a handle came in, whatever its binary interface; it becomes a handle of our
/// own where one is wanted. Passed in a register like the handle itself. `kind` tells handles apart
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

/// The next definition of `name` after ours in the search order; null if there is none.
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

/// True if the loaded MPI has the binary interface that this library was built for. Otherwise no handle
/// may be touched: every call must pass through. Looked up once; one line on stderr says so.
bool right_abi();

}  // namespace mutirao::mpi
