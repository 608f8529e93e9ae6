// The file of the library or program that holds an address.
#pragma once

#include <dlfcn.h>

#include <string>

namespace mutirao {

inline std::string object_file_of(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace mutirao
