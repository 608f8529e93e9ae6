#include "mpi/interpose/native.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mpi/interpose/launch_rank.h"

namespace mutirao::mpi {
namespace {

// The next definition after ours in the search order is the MPI library's, or that of a tool that
// was preloaded behind us. PMPI_ is asked for, because we define both names.
template <typename Function>
void find(Function& function, const char* name) {
    void* const address = dlsym(RTLD_NEXT, name);
    static_assert(sizeof address == sizeof function);
    std::memcpy(&function, &address, sizeof address);
}

#if defined(OPEN_MPI)
constexpr const char* built_for = "Open MPI";
bool same_family(const std::string& version) { return version.find("Open MPI") == 0; }
#else
constexpr const char* built_for = "MPICH";
bool same_family(const std::string& version) { return version.find("Open MPI") != 0; }
#endif

// MPI_Get_library_version touches no handle and may be called before MPI_Init.
std::string loaded_version() {
    int (*get_version)(char*, int*) = nullptr;
    find(get_version, "PMPI_Get_library_version");
    if (get_version == nullptr) {
        return "an unknown MPI library";
    }
    char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192] = {};
    int length = 0;
    get_version(text, &length);
    const std::string whole(text);
    return whole.substr(0, whole.find_first_of(",\n"));
}

bool check_abi() {
    const std::string version = loaded_version();
    if (same_family(version)) {
        return true;
    }
    if (speaks_for_job()) {
        std::fprintf(stderr,
                     "mutirao: this library was built for %s but the program runs on %s; "
                     "passing every call through; preload the library of that MPI\n",
                     built_for, version.c_str());
    }
    return false;
}

Native look_up() {
    Native found{};
    find(found.init, "PMPI_Init");
    find(found.init_thread, "PMPI_Init_thread");
    find(found.finalize, "PMPI_Finalize");
    find(found.bcast, "PMPI_Bcast");
#if MPI_VERSION >= 4
    find(found.bcast_c, "PMPI_Bcast_c");
#endif
    found.right_abi = check_abi();
    return found;
}

}  // namespace

const Native& native() {
    static const Native functions = look_up();
    return functions;
}

}  // namespace mutirao::mpi
