#include "profile/this_host.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>

#include "core/text/hash.h"

namespace mutirao::profile {
namespace {

/// Set by the launcher's --mca, too.
constexpr std::array transport_variables{
    "OMPI_MCA_pml",   "OMPI_MCA_btl",          "OMPI_MCA_mtl",     "MPIR_CVAR_CH4_NETMOD",
    "MPIR_CVAR_NOLOCAL", "MPIR_CVAR_CH4_SHM", "I_MPI_FABRICS", "FI_PROVIDER", "UCX_TLS"};

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string hash_of_command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (words.empty()) return {};
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(fnv1a(std::as_bytes(std::span(words)))));
    return digits;
}

}  // namespace

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string model = "unknown";
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (!line.starts_with("model name") || colon == line.npos) continue;
        model = line.substr(colon + 2);
        break;
    }
    return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " x " + model;
}

std::string transport() {
    std::string result;
    for (const char* const name : transport_variables) {
        const std::string value = value_of(name);
        if (!value.empty()) result += (result.empty() ? "" : " ") + std::string(name) + "=" + value;
    }
    return result;
}

// Asked at every communicator's end.
std::string program() {
    static const std::string known = hash_of_command_line();
    return known;
}

// As the XDG base directories have it: a relative path counts as unset.
std::string profile_path(const std::string& setting) {
    if (setting == "off") return {};
    if (setting != "auto") return setting;
    std::string state = value_of("XDG_STATE_HOME");
    if (!state.starts_with('/')) {
        const std::string home = value_of("HOME");
        if (!home.starts_with('/')) return {};
        state = home + "/.local/state";
    }
    return state + "/mutirao/profile.db";
}

}  // namespace mutirao::profile
