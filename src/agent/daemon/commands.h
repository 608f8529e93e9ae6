// The commands of mutirao-agent. Each takes the words after its name and returns the exit code, or
// throws tool::UsageError or tool::Failure.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "agent/view_reader.h"

namespace mutirao::agent {

inline constexpr int another_agent_runs = 3;

using Words = std::vector<std::string>;

/// The shared memory's full name; that of the usual daemon if none is given.
std::string checked_segment_name(const std::optional<std::string>& given);

int run_agent(const Words& words, std::ostream& out);
int show_status(const Words& words, std::ostream& out);
int dump(const Words& words, std::ostream& out);
int list(const Words& words, std::ostream& out);

/// One line. A part that cannot be read is null.
std::string dump_json(const std::string& name, const ViewReader& reader);

}  // namespace mutirao::agent
