// The commands of mutirao-agent. Each takes the words after its name and returns the exit code, or
// throws tool::UsageError or tool::Failure.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "agent/segment.h"
#include "tool/arguments.h"

namespace mutirao::agent {

// The file that names a daemon's hosts: one "HOST [PORT]" a line, "#" begins a comment. All hosts must
// hold the same lines in the same order: a host is known by its line's number, from 0.

inline constexpr std::uint16_t usual_port = 7427;

struct HostLine {
    std::string host;
    std::uint16_t port = usual_port;

    bool operator==(const HostLine&) const = default;
};

struct HostFile {
    std::vector<HostLine> hosts;

    /// Equal on hosts with the same lines.
    std::uint64_t id() const;
};

/// `name` is how the error calls the file. Throws tool::UsageError.
HostFile read_host_file(std::istream& input, const std::string& name);

inline constexpr int another_agent_runs = 3;

using tool::Words;

/// The shared memory's full name; that of the usual daemon if none is given.
std::string checked_segment_name(const std::optional<std::string>& given);

int run_agent(const Words& words, std::ostream& out);
int show_status(const Words& words, std::ostream& out);
int dump(const Words& words, std::ostream& out);
int list(const Words& words, std::ostream& out);

/// One line. A part that cannot be read is null.
std::string dump_json(const std::string& name, const ViewReader& reader);

}  // namespace mutirao::agent
