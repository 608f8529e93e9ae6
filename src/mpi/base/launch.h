// What a process knows before MPI is initialised, and without it: src/preload includes this, too.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace mutirao {

/// True in the process that should print a message meant once per job: rank 0 as its launcher tells it, or any process
/// whose launcher does not.
inline bool speaks_for_job() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* const rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
    }
    return true;
}

/// The file of the library or program that holds an address.
inline std::string object_file_of(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace mutirao
