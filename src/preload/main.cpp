// mutirao-mpi-library FILE: says as JSON which MPI library that is, by itself, and whether one of ours fits it.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "preload/abi.h"

namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
    return out + '"';
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "mutirao-mpi-library: give the file of one MPI library\n");
        return 2;
    }
    void* const handle = dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL);
    if (handle == nullptr) {
        std::fprintf(stderr, "mutirao-mpi-library: %s\n", dlerror());
        return 1;
    }
    const mutirao::preload::LoadedMpi mpi = mutirao::preload::identify(handle);
    std::string reason;
    const bool fits = mutirao::preload::open_library_for(mpi, "../lib/mutirao/", reason) != nullptr;
    std::printf("{\"version\": %s, \"standard\": %d, \"abi\": %s, \"fits\": %s, \"large_counts\": %s}\n",
                quoted(mpi.version).c_str(), mpi.standard,
                quoted(mutirao::preload::abi_of(mpi)).c_str(), fits ? "true" : "false",
                dlsym(handle, "MPI_Bcast_c") != nullptr ? "true" : "false");
    return 0;
}
