#include "preload/abi.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <string_view>

#include "mpi/base/environment.h"

namespace mutirao::preload {
namespace {

template <typename Function>
Function find(void* handle, const char* name) {
    return reinterpret_cast<Function>(dlsym(handle == nullptr ? RTLD_NEXT : handle, name));
}

// Links resolved, with a slash at the end.
std::string this_folder() {
    const std::string here = object_file_of(reinterpret_cast<const void*>(&abi_of));
    char resolved[PATH_MAX] = {};
    const std::string path = realpath(here.c_str(), resolved) == nullptr ? here : resolved;
    return path.substr(0, path.find_last_of('/') + 1);
}

std::string major_of(std::string_view version) {
    const std::size_t begin = version.find_first_of("0123456789");
    return begin == std::string_view::npos
               ? ""
               : std::string(version.substr(begin, version.find('.', begin) - begin));
}

}  // namespace

// Both functions touch no handle, may be called before MPI_Init, and are nothing that tools put something
// of their own before.
LoadedMpi identify(void* handle) {
    LoadedMpi mpi;
    mpi.handle = handle;
    const auto get_version = find<int (*)(char*, int*)>(handle, "PMPI_Get_library_version");
    const auto get_standard = find<int (*)(int*, int*)>(handle, "PMPI_Get_version");
    if (get_version == nullptr || get_standard == nullptr) {
        return mpi;
    }
    char text[8192] = {};  // the longest of any binary interface
    int length = 0;
    get_version(text, &length);
    mpi.version = name_and_version(text);
    int minor = 0;
    get_standard(&mpi.standard, &minor);
    mpi.path = object_file_of(reinterpret_cast<const void*>(get_version));
    return mpi;
}

// The standard's interface, which MPICH offers beside its own, does not say so, but has a library of its own.
std::string abi_of(const LoadedMpi& mpi) {
    if (mpi.standard == 0) {
        return "unknown";
    }
    if (mpi.path.substr(mpi.path.find_last_of('/') + 1).starts_with("libmpi_abi")) {
        return "standard";
    }
    if (mpi.version.starts_with("Open MPI")) {
        return "open-mpi-" + major_of(mpi.version);
    }
    return mpi.standard >= 4 ? "mpich" : "mpich-3";
}

void* open_library_for(const LoadedMpi& mpi, const std::string& beginning, std::string& reason) {
    const std::string path = this_folder() + beginning + abi_of(mpi) + ".so";
    // Now, not lazily: an MPI library that lacks a function is to be left alone, not to fail in a call.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char* const error = dlerror();
        reason = error == nullptr ? path : error;
    }
    return library;
}

}  // namespace mutirao::preload
