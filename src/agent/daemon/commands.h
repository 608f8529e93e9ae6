// The commands of mutirao-agent. Each takes the words after its name, or
// throws tool::UsageError or tool::Failure.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

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

/// `name` is how the error calls the file. Throws tool::UsageError.
std::vector<HostLine> read_host_file(std::istream& input, const std::string& name);

/// Equal on hosts with the same lines.
std::uint64_t id_of(const std::vector<HostLine>& hosts);

inline constexpr int another_agent_runs = 3;

using tool::Words;

int run_agent(const Words& words, std::ostream& out);
void show_status(const Words& words, std::ostream& out);
void list(const Words& words, std::ostream& out);
/// Tells the invitation, and serves one job until standard input ends.
void hold_rendezvous(const Words& words, std::ostream& out);

}  // namespace mutirao::agent
