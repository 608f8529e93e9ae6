#include "mpi/base/native.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>

namespace mutirao::mpi {
namespace {

void* (*next_in_program)(const char* name) = nullptr;

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

void* next_function(const char* name) {
    return next_in_program == nullptr ? dlsym(RTLD_NEXT, name) : next_in_program(name);
}

}  // namespace mutirao::mpi

extern "C" __attribute__((visibility("default"))) void mutirao_bind(void* (*next)(const char*)) {
    mutirao::mpi::next_in_program = next;
}
