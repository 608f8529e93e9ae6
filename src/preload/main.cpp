// mutirao-mpi-library FILE: says as JSON which MPI library that is, by itself, and whether one of ours fits it.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "core/text/json.h"
#include "preload/abi.h"

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
    mutirao::JsonWriter json;
    json.begin_object().member("version", mpi.version).member("standard", mpi.standard);
    json.member("abi", mutirao::preload::abi_of(mpi)).member("fits", fits).end_object();
    std::puts(json.take().c_str());
    return 0;
}
