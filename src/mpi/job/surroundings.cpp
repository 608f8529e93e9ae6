#include "mpi/job/surroundings.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace mutirao::mpi {

bool is_fault_tolerant() {
    const auto is_set = [](const char* name) {
        const char* const value = std::getenv(name);
        return value != nullptr && std::string_view(value) != "0" && std::string_view(value) != "false";
    };
    const auto names = {"OMPI_MCA_mpi_ft_enable", "PRTE_MCA_prte_enable_ft", "OMPI_MCA_with_ft"};
    return std::any_of(names.begin(), names.end(), is_set);
}

bool gpu_runtime_loaded() {
    const auto names = {"cuInit", "hipInit", "zeInit"};
    return std::any_of(names.begin(), names.end(), [](const char* name) {
        return dlsym(RTLD_DEFAULT, name) != nullptr;
    });
}

}  // namespace mutirao::mpi
