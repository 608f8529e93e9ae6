#include "mpi/job/surroundings.h"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <initializer_list>

namespace mutirao::mpi {

bool is_fault_tolerant() {
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
    int* enabled = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, &enabled, &found);
    return found != 0 && enabled != nullptr && *enabled != 0;
#else
    return false;
#endif
}

bool uses_ucx() { return dlsym(RTLD_DEFAULT, "ucp_init") != nullptr; }

bool gpu_runtime_loaded() {
    const auto names = {"cuInit", "hipInit", "zeInit"};
    return std::any_of(names.begin(), names.end(), [](const char* name) {
        return dlsym(RTLD_DEFAULT, name) != nullptr;
    });
}

}  // namespace mutirao::mpi
