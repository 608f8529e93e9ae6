#include "mpi/executor/device_memory.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "mpi/base/native.h"

namespace mutirao::mpi {
namespace {

/// cuPointerGetAttribute of CUDA's driver, hipPointerGetAttribute of ROCm's.
using GetAttribute = int (*)(void* answer, int attribute, std::uintptr_t pointer);
constexpr int memory_type = 2;  ///< the attribute's number, for both

struct Driver {
    const char* library;
    const char* function;
    unsigned least_type;  ///< of memory that may be the card's
};
constexpr std::array drivers = {
    Driver{"libcuda.so.1", "cuPointerGetAttribute", 2},
    Driver{"libamdhip64.so", "hipPointerGetAttribute", 1},  // from version 6 on also what the host has registered
};

/// The extensions by which Open MPI, MPICH and their kin tell.
bool mpi_takes_device_memory() {
    for (const char* const name : {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support"}) {
        const auto query = next<int (*)()>(name);
        if (query != nullptr && query() != 0) return true;
    }
    const auto query = next<int (*)(int, int*)>("MPIX_GPU_query_support");
    bool takes = false;
    for (int kind = 0; query != nullptr && kind < 3; ++kind) {
        int supported = 0;
        takes = (query(kind, &supported) == 0 && supported != 0) || takes;
    }
    return takes;
}

/// How many libraries this process has ever loaded.
unsigned long long loaded_libraries() {
    unsigned long long count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* answer) {
            *static_cast<unsigned long long*>(answer) = object->dlpi_adds;
            return 1;
        },
        &count);
    return count;
}

GetAttribute find(const Driver& driver) {
    void* function = dlsym(RTLD_DEFAULT, driver.function);
    if (function == nullptr) {
        void* const library = dlopen(driver.library, RTLD_LAZY | RTLD_NOLOAD);
        function = library == nullptr ? nullptr : dlsym(library, driver.function);
    }
    return reinterpret_cast<GetAttribute>(function);
}

/// Null: not loaded. Looked for again when anything has been loaded since.
GetAttribute loaded(std::size_t which) {
    static std::array<std::atomic<GetAttribute>, drivers.size()> functions{};
    static std::array<std::atomic<unsigned long long>, drivers.size()> looked{};
    if (const GetAttribute function = functions[which].load(std::memory_order_relaxed)) {
        return function;
    }
    const unsigned long long now = loaded_libraries();
    if (looked[which].exchange(now, std::memory_order_relaxed) != now) {
        functions[which].store(find(drivers[which]), std::memory_order_relaxed);
    }
    return functions[which].load(std::memory_order_relaxed);
}

}  // namespace

bool is_on_device(const void* buffer) {
    static const bool possible = mpi_takes_device_memory();
    if (!possible || buffer == nullptr) {
        return false;
    }
    for (std::size_t which = 0; which < drivers.size(); ++which) {
        const GetAttribute get_attribute = loaded(which);
        unsigned type = 0;
        if (get_attribute != nullptr &&
            get_attribute(&type, memory_type, reinterpret_cast<std::uintptr_t>(buffer)) == 0 &&
            type >= drivers[which].least_type) {
            return true;
        }
    }
    return false;
}

}  // namespace mutirao::mpi
