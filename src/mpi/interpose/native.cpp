#include "mpi/interpose/native.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "mpi/interpose/launch_rank.h"

namespace mutirao::mpi {
namespace {

#if defined(OPEN_MPI)
constexpr std::string_view built_for = "Open MPI";
#else
constexpr std::string_view built_for = "MPICH";
#endif

struct LoadedMpi {
    std::string version = "an unknown MPI library";
    std::string object;  ///< the shared object, without its folder
};

// MPI_Get_library_version touches no handle, may be called before MPI_Init, and is nothing that tools
// put something of their own before.
LoadedMpi loaded_mpi() {
    LoadedMpi loaded;
    constexpr const char* name = "PMPI_Get_library_version";
    const auto get_version = next<int (*)(char*, int*)>(name);
    if (get_version == nullptr) {
        return loaded;
    }
    // The longest of any binary interface.
    char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192] = {};
    int length = 0;
    get_version(text, &length);
    const std::string whole(text);
    loaded.version = whole.substr(0, whole.find_first_of(",\n"));
    Dl_info info{};
    if (dladdr(next_function(name), &info) != 0 && info.dli_fname != nullptr) {
        const std::string_view path(info.dli_fname);
        loaded.object = path.substr(path.find_last_of('/') + 1);
    }
    return loaded;
}

// Both families say who they are; the standard ABI, which MPICH offers beside its own, does not, but has
// a library of its own.
bool fits(const LoadedMpi& loaded) {
    const bool open_mpi = loaded.version.starts_with("Open MPI");
    const bool standard_abi = loaded.object.starts_with("libmpi_abi");
    return !standard_abi && open_mpi == (built_for == "Open MPI");
}

bool check_abi() {
    const LoadedMpi loaded = loaded_mpi();
    if (fits(loaded)) {
        return true;
    }
    if (speaks_for_job()) {
        std::fprintf(stderr,
                     "mutirao: this library was built for %s but the program runs on %s (%s); "
                     "passing every call through; preload the library of that MPI\n",
                     std::string(built_for).c_str(), loaded.version.c_str(),
                     loaded.object.c_str());
    }
    return false;
}

// The text of the object that holds one of the MPI library's functions.
struct Text {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

int take_if_it_holds(dl_phdr_info* object, std::size_t, void* wanted) {
    auto& text = *static_cast<Text*>(wanted);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        const Text found{begin, begin + part.p_memsz};
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && found.holds(text.begin)) {
            text = found;
            return 1;
        }
    }
    return 0;
}

Text find_text() {
    Text text{reinterpret_cast<std::uintptr_t>(next_function("PMPI_Get_library_version")), 0};
    return dl_iterate_phdr(take_if_it_holds, &text) != 0 ? text : Text{};
}

}  // namespace

bool is_mpi_library(const void* address) {
    static const Text text = find_text();
    return text.holds(reinterpret_cast<std::uintptr_t>(address));
}

void* next_function(const char* name) { return dlsym(RTLD_NEXT, name); }

bool right_abi() {
    static const bool right = check_abi();
    return right;
}

}  // namespace mutirao::mpi
