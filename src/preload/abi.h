// Which MPI library a program runs on, and which of our libraries has its binary interface.
//
// An interface has a name: open-mpi-5 (family and major version), mpich (MPICH, Intel MPI and others that keep
// MPICH's, from MPI 4 on), mpich-3 (the same before MPI 4), standard (libmpi_abi). What a library was compiled
// for is said by mpi/base/abi_of_headers.h, what a program runs on by abi_of.
#pragma once

#include <string>

namespace mutirao::preload {

struct LoadedMpi {
    void* handle = nullptr;  ///< null if it is visible to all anyway
    std::string version = "an unknown MPI library";
    std::string path;
    int standard = 0;  ///< the MPI standard's major version
};

/// The MPI library behind `handle` or, if that is null, behind the object that this code is in.
LoadedMpi identify(void* handle);

/// The interface's name.
std::string abi_of(const LoadedMpi& mpi);

/// Opens our library of that interface: BEGINNING, relative to the folder of the object that this code is in,
/// then the interface's name and ".so". Null, with the reason, if there is none or a function is missing. The
/// MPI library's names must be visible to all by then.
void* open_library_for(const LoadedMpi& mpi, const std::string& beginning, std::string& reason);

}  // namespace mutirao::preload
