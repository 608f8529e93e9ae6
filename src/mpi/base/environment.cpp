#include "mpi/base/environment.h"

#include <linux/rtnetlink.h>
#include <mpi.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <set>

#include "agent/system.h"
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

struct RoutesAsked {
    nlmsghdr head{};
    rtmsg route{};
};

/// Appends to `found` what each route of that answer asks for; whether more answers follow.
bool take_controls(const std::byte* answer, std::size_t length, std::set<std::string>& found) {
    const auto* head = reinterpret_cast<const nlmsghdr*>(answer);
    for (; NLMSG_OK(head, length); head = NLMSG_NEXT(head, length)) {
        if (head->nlmsg_type != RTM_NEWROUTE) {
            return false;
        }
        const auto* const route = static_cast<const rtmsg*>(NLMSG_DATA(head));
        auto attributes_length = RTM_PAYLOAD(head);
        const rtattr* attribute = RTM_RTA(route);
        for (; RTA_OK(attribute, attributes_length); attribute = RTA_NEXT(attribute, attributes_length)) {
            if (attribute->rta_type != RTA_METRICS) {
                continue;
            }
            auto metrics_length = RTA_PAYLOAD(attribute);
            const auto* metric = static_cast<const rtattr*>(RTA_DATA(attribute));
            for (; RTA_OK(metric, metrics_length); metric = RTA_NEXT(metric, metrics_length)) {
                if (metric->rta_type == RTAX_CC_ALGO) {
                    found.emplace(static_cast<const char*>(RTA_DATA(metric)));
                }
            }
        }
    }
    return true;
}

/// The congestion controls that routes ask for by name (rtnetlink(7)), of as many as come in a few answers.
std::set<std::string> controls_of_routes() {
    std::set<std::string> found;
    const agent::File socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    RoutesAsked asked;
    asked.head.nlmsg_len = sizeof asked;
    asked.head.nlmsg_type = RTM_GETROUTE;
    asked.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    asked.route.rtm_family = AF_INET;
    if (!socket || send(socket.number(), &asked, sizeof asked, 0) < 0) {
        return found;
    }
    constexpr int most_answers = 16;
    alignas(nlmsghdr) std::array<std::byte, 32 * 1024> answer;
    for (int i = 0; i < most_answers; ++i) {
        const ssize_t length = recv(socket.number(), answer.data(), answer.size(), MSG_DONTWAIT);
        if (length <= 0 || !take_controls(answer.data(), static_cast<std::size_t>(length), found)) {
            break;
        }
    }
    return found;
}

/// Of connections to other hosts: what routes ask for, if they agree, else the system's.
std::string congestion_control() {
    const std::set<std::string> asked = controls_of_routes();
    if (asked.size() == 1) {
        return *asked.begin();
    }
    std::string control;
    std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> control;
    return control;
}

}  // namespace

SocketLimits SocketLimits::least_of(const SocketLimits& other) const {
    return {std::min(buffer_bytes, other.buffer_bytes),
            std::min(initial_window_bytes, other.initial_window_bytes), std::min(bbr, other.bbr)};
}

namespace {

SocketLimits find_limits() {
    SocketLimits limits;
    if (const double initial_bytes = number_in("/proc/sys/net/ipv4/tcp_wmem", 1); initial_bytes > 0) {
        limits.buffer_bytes = std::max(initial_bytes, least_buffer_bytes) / 2;
    }
    if (congestion_control() == "bbr") {
        limits.bbr = 1;
    } else if (number_in("/proc/sys/net/ipv4/tcp_slow_start_after_idle", 0) != 0) {
        limits.initial_window_bytes = Transport::ten_packets_bytes;
    }
    return limits;
}

}  // namespace

SocketLimits limits_of_this_host() {
    static const SocketLimits known = find_limits();
    return known;
}

}  // namespace mutirao::mpi
