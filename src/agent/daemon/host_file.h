// The file that names a daemon's hosts: one "HOST [PORT]" a line, "#" begins a comment. All hosts must
// hold the same lines in the same order: a host is known by its line's number, from 0.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace mutirao::agent {

inline constexpr std::uint16_t usual_port = 7427;

struct HostLine {
    std::string host;
    std::uint16_t port = usual_port;

    bool operator==(const HostLine&) const = default;
};

struct HostFile {
    std::vector<HostLine> hosts;
    std::string error;  ///< "NAME:LINE: what is wrong"; empty: all well

    /// Equal on hosts with the same lines.
    std::uint64_t id() const;
};

/// `name` is how the error calls the file.
HostFile read_host_file(std::istream& input, const std::string& name);

}  // namespace mutirao::agent
