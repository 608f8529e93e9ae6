// Moves this process into a host of the lab.
#pragma once

#include <string>

#include "common/unique_fd.h"

namespace mutirao::lab {

/// Joins the host's namespaces, keeping the working folder, and sets MUTILAB_HOST. The connection
/// that is returned closes when the lab ends. Throws SetupError.
UniqueFd enter_host(const std::string& host);

}  // namespace mutirao::lab
