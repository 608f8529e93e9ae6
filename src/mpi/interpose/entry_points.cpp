// The functions that the program reaches instead of the MPI library's. Each is defined under its
// MPI_ and its PMPI_ name: Open MPI's Fortran bindings call PMPI_, and a profiling tool preloaded
// before us calls PMPI_ too. No exception leaves this file.
#include <mpi.h>

#include <exception>

#include "mpi/broadcast.h"
#include "mpi/interpose/guard.h"
#include "mpi/interpose/native.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

int init(int* argc, char*** argv) {
    if (native().right_abi) {
        check_settings();
    }
    const Guard guard;
    return native().init(argc, argv);
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
    if (native().right_abi) {
        check_settings();
    }
    const Guard guard;
    return native().init_thread(argc, argv, required, provided);
}

int finalize() {
    const Guard guard;
    return native().finalize();
}

int bcast_natively(const BroadcastCall& call) {
    const Handle type = as_word(call.type);
    const Handle comm = as_word(call.comm);
#if MPI_VERSION >= 4
    if (call.large_count) {
        return native().bcast_c(call.buffer, call.count, type, call.root, comm);
    }
#endif
    return native().bcast(call.buffer, static_cast<int>(call.count), type, call.root, comm);
}

int bcast_by_us(const BroadcastCall& call) {
    try {
        return broadcast(call, bcast_natively);
    } catch (const std::exception&) {
        return raise_on(call.comm, MPI_ERR_NO_MEM);
    }
}

BroadcastCall call_of(void* buffer, MPI_Count count, Handle type, int root, Handle comm,
                      bool large_count) {
    return {buffer, count, own_handle<MPI_Datatype>(type), root, own_handle<MPI_Comm>(comm),
            large_count};
}

int bcast(void* buffer, int count, Handle type, int root, Handle comm) {
    const Guard guard;
    if (!guard.outermost() || !native().right_abi) {
        return native().bcast(buffer, count, type, root, comm);
    }
    return bcast_by_us(call_of(buffer, count, type, root, comm, false));
}

#if MPI_VERSION >= 4
int bcast_c(void* buffer, MPI_Count count, Handle type, int root, Handle comm) {
    const Guard guard;
    if (!guard.outermost() || !native().right_abi) {
        return native().bcast_c(buffer, count, type, root, comm);
    }
    return bcast_by_us(call_of(buffer, count, type, root, comm, true));
}
#endif

}  // namespace
}  // namespace mutirao::mpi

// The names are given to the linker only, since mpi.h declares them with handles of its own types.
#define MUTIRAO_INTERPOSE(name, function, parameters, arguments)                              \
    extern "C" __attribute__((visibility("default"))) int mutirao_##name parameters           \
        __asm__("MPI_" #name);                                                                \
    extern "C" __attribute__((visibility("default"))) int mutirao_p##name parameters          \
        __asm__("PMPI_" #name);                                                               \
    int mutirao_##name parameters { return mutirao::mpi::function arguments; }                \
    int mutirao_p##name parameters { return mutirao::mpi::function arguments; }

MUTIRAO_INTERPOSE(Init, init, (int* argc, char*** argv), (argc, argv))
MUTIRAO_INTERPOSE(Init_thread, init_thread,
                  (int* argc, char*** argv, int required, int* provided),
                  (argc, argv, required, provided))
MUTIRAO_INTERPOSE(Finalize, finalize, (), ())
MUTIRAO_INTERPOSE(Bcast, bcast,
                  (void* buffer, int count, mutirao::mpi::Handle type, int root,
                   mutirao::mpi::Handle comm),
                  (buffer, count, type, root, comm))
#if MPI_VERSION >= 4
MUTIRAO_INTERPOSE(Bcast_c, bcast_c,
                  (void* buffer, MPI_Count count, mutirao::mpi::Handle type, int root,
                   mutirao::mpi::Handle comm),
                  (buffer, count, type, root, comm))
#endif
