// The MPI library's own versions of the functions that we define in its place. They take handles as
// whole machine words: what passes through unread may be a handle of another binary interface, an
// int where ours is a pointer or the reverse, and must arrive as it came.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace mutirao::mpi {

using Handle = std::uintptr_t;

/// A handle of our own binary interface from the word that it came in.
template <typename Own>
Own own_handle(Handle word) {
    if constexpr (std::is_pointer_v<Own>) {
        return std::bit_cast<Own>(word);
    } else {
        return static_cast<Own>(word);
    }
}

template <typename Own>
Handle as_word(Own handle) {
    if constexpr (std::is_pointer_v<Own>) {
        return std::bit_cast<Handle>(handle);
    } else {
        return static_cast<Handle>(handle);
    }
}

struct Native {
    int (*init)(int*, char***);
    int (*init_thread)(int*, char***, int, int*);
    int (*finalize)();
    int (*bcast)(void*, int, Handle, int, Handle);
#if MPI_VERSION >= 4
    int (*bcast_c)(void*, MPI_Count, Handle, int, Handle);
#endif
    /// True if the loaded MPI has the binary interface that this library was built for. Otherwise
    /// no handle may be touched: every call must pass through.
    bool right_abi;
};

/// Looked up once, at the first call.
const Native& native();

}  // namespace mutirao::mpi
