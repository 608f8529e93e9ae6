// What is preloaded: the MPI functions' names, and nothing of MPI. It needs no MPI library, so that it changes
// neither which one a program gets nor what a shell or a launcher loads. At the program's first MPI call it looks
// at what the program has loaded, opens the library of ours that has its binary interface, and hands it all
// calls; where none fits, one line says so and the calls are the MPI library's.
//
// Names that the MPI library lacks are offered all the same, and must work, since programs look whether they are there:
// those with large counts (narrowed.h), and MPI_Comm_idup_with_info, whose hints an MPI library may ignore.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mpi/base/environment.h"
#include "mpi/interpose/functions.h"
#include "preload/abi.h"
#include "preload/narrowed.h"

namespace {

using mutirao::preload::Comm;
using mutirao::preload::LoadedMpi;
using mutirao::preload::Op;
using mutirao::preload::Type;
using MPI_Datatype = Type;
using Root = int;
using Word = std::uintptr_t;  // a handle that is not looked at

int take_path_of_mpi(dl_phdr_info* object, std::size_t, void* wanted) {
    const char* const slash = std::strrchr(object->dlpi_name, '/');
    const bool found = std::strncmp(slash == nullptr ? object->dlpi_name : slash + 1, "libmpi", 6) == 0;
    if (found) {
        *static_cast<std::string*>(wanted) = object->dlpi_name;
    }
    return found ? 1 : 0;
}

// Python loads its MPI library for one module only. Made visible to all, it is there for ours, too.
LoadedMpi find_mpi() {
    if (dlsym(RTLD_NEXT, "PMPI_Get_library_version") != nullptr) {
        return mutirao::preload::identify(nullptr);
    }
    std::string path;
    dl_iterate_phdr(take_path_of_mpi, &path);
    void* const handle =
        path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    return mutirao::preload::identify(handle);
}

const LoadedMpi& loaded_mpi() {
    static const LoadedMpi& mpi = *new LoadedMpi(find_mpi());  // also for calls from destructors
    return mpi;
}

/// The function behind ours: the MPI library's, or that of a tool that was preloaded after us.
void* next_function(const char* name) {
    void* const next = dlsym(RTLD_NEXT, name);
    return next == nullptr && loaded_mpi().handle != nullptr ? dlsym(loaded_mpi().handle, name) : next;
}

void* open_library() {
    std::string reason;
    void* const library = mutirao::preload::open_library_for(loaded_mpi(), "mutirao/", reason);
    if (library != nullptr) {
        using Bind = void (*)(void* (*)(const char*));
        reinterpret_cast<Bind>(dlsym(library, "mutirao_bind"))(next_function);
    } else if (mutirao::speaks_for_job()) {
        std::fprintf(stderr,
                     "mutirao: no library for %s (%s), so it takes all calls; mutirao doctor --build PATH"
                     " builds one with its compiler wrapper (%s)\n",
                     loaded_mpi().version.c_str(), loaded_mpi().path.c_str(), reason.c_str());
    }
    return library;
}

/// Where a call of `symbol` goes to. `ours` is its name in our libraries, `otherwise` for where the MPI library has none.
void* target_of(const char* ours, const char* symbol, void* otherwise) {
    static void* const library = open_library();
    void* const native = next_function(symbol);
    if (native == nullptr && otherwise != nullptr) {
        return otherwise;
    }
    void* const taken = library == nullptr ? nullptr : dlsym(library, ours);
    void* const target = taken == nullptr ? native : taken;
    if (target == nullptr) {
        std::fprintf(stderr, "mutirao: %s is called, which %s does not have\n", symbol, loaded_mpi().version.c_str());
        std::abort();
    }
    return target;
}

}  // namespace

// Compiled to jumps: the call keeps its arguments, and its return address in the caller.
#define MUTIRAO_DEFINE(symbol, otherwise, parameters, arguments)                              \
    extern "C" __attribute__((visibility("default"))) int symbol parameters {                 \
        static std::atomic<int(*) parameters> known = nullptr;                                \
        auto target = known.load(std::memory_order_relaxed);                                  \
        if (target == nullptr) [[unlikely]] {                                                 \
            target = otherwise;                                                               \
            target = reinterpret_cast<int(*) parameters>(                                     \
                target_of("mutirao_" #symbol, #symbol, reinterpret_cast<void*>(target)));     \
            known.store(target, std::memory_order_relaxed);                                   \
        }                                                                                     \
        return target arguments;                                                              \
    }
#define MUTIRAO_DEFINE_BOTH(name, otherwise, parameters, arguments)                           \
    MUTIRAO_DEFINE(MPI_##name, otherwise, parameters, arguments)                              \
    MUTIRAO_DEFINE(PMPI_##name, otherwise, parameters, arguments)

MUTIRAO_DEFINE_BOTH(Init, nullptr, (int* argc, char*** argv), (argc, argv))
MUTIRAO_DEFINE_BOTH(Init_thread, nullptr, (int* argc, char*** argv, int required, int* provided),
                    (argc, argv, required, provided))
MUTIRAO_DEFINE_BOTH(Finalize, nullptr, (), ())
MUTIRAO_DEFINE_BOTH(Comm_idup, nullptr, (Comm comm, Word copy, Word request), (comm, copy, request))
static int idup_without_info(Comm comm, Word, Word copy, Word request) { return MPI_Comm_idup(comm, copy, request); }
MUTIRAO_DEFINE_BOTH(Comm_idup_with_info, idup_without_info, (Comm comm, Word info, Word copy, Word request),
                    (comm, info, copy, request))
MUTIRAO_DEFINE_BOTH(Comm_free, nullptr, (void* comm), (comm))
MUTIRAO_DEFINE_BOTH(Comm_disconnect, nullptr, (void* comm), (comm))

#define MUTIRAO_COLLECTIVE(name, ours, parameters, arguments)                                 \
    MUTIRAO_DEFINE_BOTH(name, nullptr, parameters, arguments)
MUTIRAO_COLLECTIVES_WITHOUT_COUNTS(MUTIRAO_COLLECTIVE)
MUTIRAO_COLLECTIVES(MUTIRAO_COLLECTIVE, int, int)

#define MUTIRAO_LARGE_COUNTS(symbol, parameters, arguments)                                   \
    static int narrowed_##symbol parameters {                                                 \
        return mutirao::preload::NarrowedCall{next_function, symbol} arguments;               \
    }                                                                                         \
    MUTIRAO_DEFINE(symbol##_c, narrowed_##symbol, parameters, arguments)
#define MUTIRAO_LARGE_COLLECTIVE(name, ours, parameters, arguments)                           \
    MUTIRAO_LARGE_COUNTS(MPI_##name, parameters, arguments)                                   \
    MUTIRAO_LARGE_COUNTS(PMPI_##name, parameters, arguments)
MUTIRAO_COLLECTIVES(MUTIRAO_LARGE_COLLECTIVE, long long, std::intptr_t)
