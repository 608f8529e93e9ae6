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
#if MPI_VERSION >= 4
    if (call.large_count) {
        return native().bcast_c(call.buffer, call.count, call.type, call.root, call.comm);
    }
#endif
    return native().bcast(call.buffer, static_cast<int>(call.count), call.type, call.root,
                          call.comm);
}

int bcast(const BroadcastCall& call) {
    const Guard guard;
    if (!guard.outermost() || !native().right_abi) {
        return bcast_natively(call);
    }
    try {
        return broadcast(call, bcast_natively);
    } catch (const std::exception&) {
        return raise_on(call.comm, MPI_ERR_NO_MEM);
    }
}

}  // namespace
}  // namespace mutirao::mpi

#define MUTIRAO_INTERPOSE(name, parameters, body)                                \
    extern "C" __attribute__((visibility("default"))) int MPI_##name parameters { return body; } \
    extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters { return body; }

MUTIRAO_INTERPOSE(Init, (int* argc, char*** argv), mutirao::mpi::init(argc, argv))
MUTIRAO_INTERPOSE(Init_thread, (int* argc, char*** argv, int required, int* provided),
                  mutirao::mpi::init_thread(argc, argv, required, provided))
MUTIRAO_INTERPOSE(Finalize, (), mutirao::mpi::finalize())
MUTIRAO_INTERPOSE(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                  mutirao::mpi::bcast({buffer, count, type, root, comm, false}))
#if MPI_VERSION >= 4
MUTIRAO_INTERPOSE(Bcast_c,
                  (void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm),
                  mutirao::mpi::bcast({buffer, count, type, root, comm, true}))
#endif
