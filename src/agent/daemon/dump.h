// What an agent's shared memory holds, as JSON: for `mutirao top` and for whoever looks closer.
#pragma once

#include <string>

#include "agent/view_reader.h"

namespace mutirao::agent {

/// One line. A part that cannot be read is null.
std::string dump_json(const std::string& name, const ViewReader& reader);

}  // namespace mutirao::agent
