#include "mpi/base/environment.h"

#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>

#include "core/network/network.h"

namespace mutirao::mpi {

bool is_fault_tolerant() {
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
    int* enabled = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, &enabled, &found);
    return found != 0 && enabled != nullptr && *enabled != 0;
#else
    return false;
#endif
}

namespace {

/// What the MPI library says of itself.
std::string description() {
    char text[8192] = {};  // the longest of any binary interface
    int length = 0;
    PMPI_Get_library_version(text, &length);
    return text;
}

#if defined(OPEN_MPI)

/// What MPI_Init has selected to pass messages by: Open MPI's table of its functions begins with
/// mca_pml_ob1_add_procs() or the like, of mca_pml_ob1.so where components are files. Empty: not to be seen.
std::string selected_component() {
    Dl_info found{};
    const auto* const functions = static_cast<void* const*>(dlsym(RTLD_DEFAULT, "mca_pml"));
    if (functions == nullptr || dladdr(*functions, &found) == 0) {
        return "";
    }
    const std::string file(found.dli_fname);
    const std::string name = file.substr(file.find_last_of('/') + 1);
    return name.starts_with("mca_pml_") || found.dli_sname == nullptr ? name : found.dli_sname;
}

// That libucp is loaded says little: it is where nothing goes by it, in some builds.
Carrier find_carrier() {
    const std::string name = selected_component();
    if (name.starts_with("mca_pml_ob1") || name.starts_with("mca_pml_cm")) {
        return Carrier::other;
    }
    return dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD) != nullptr ? Carrier::ucx : Carrier::other;
}

#else

// "Device: ch4:ucx ofi": what MPICH was built with, the default first.
std::string netmods_built() {
    const std::string built = description(), mark = "ch4:";
    const std::size_t begin = built.find(mark);
    return begin == std::string::npos ? "" : built.substr(begin + mark.size());
}

std::string netmod() {
    for (const char* const name :
         {"MPIR_CVAR_CH4_NETMOD", "MPIR_PARAM_CH4_NETMOD", "MPICH_CH4_NETMOD"}) {
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') {
            return value;
        }
    }
    return netmods_built();
}

Carrier find_carrier() {
    const std::string name = netmod();
    if (name.starts_with("ofi")) {
        return Carrier::libfabric;
    }
    return name.starts_with("ucx") ? Carrier::ucx : Carrier::other;
}

#endif

}  // namespace

Carrier carrier() {
    static const Carrier found = find_carrier();
    return found;
}

std::string library_version() {
    static const auto& known = *new std::string(name_and_version(description()));
    return known;
}

namespace {

/// Linux makes the buffer of a connection as large as twice its initial window, with what it adds to each
/// segment; by tcp_wmem's middle value it may be larger. Seen: 46,336 bytes are taken at once.
constexpr double least_buffer_bytes = 46080;

/// The number in that place of one of the kernel's settings; 0 if there is none.
double number_in(const char* path, int place) {
    std::ifstream file(path);
    double number = 0;
    for (int i = 0; i <= place; ++i) file >> number;
    return file ? number : 0;
}

}  // namespace

SocketLimits SocketLimits::least_of(const SocketLimits& other) const {
    return {std::min(buffer_bytes, other.buffer_bytes),
            std::min(initial_window_bytes, other.initial_window_bytes)};
}

SocketLimits limits_of_this_host() {
    SocketLimits limits;
    if (const double initial_bytes = number_in("/proc/sys/net/ipv4/tcp_wmem", 1); initial_bytes > 0) {
        limits.buffer_bytes = std::max(initial_bytes, least_buffer_bytes) / 2;
    }
    if (number_in("/proc/sys/net/ipv4/tcp_slow_start_after_idle", 0) != 0) {
        limits.initial_window_bytes = Transport::ten_packets_bytes;
    }
    return limits;
}

}  // namespace mutirao::mpi
