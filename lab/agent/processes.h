// How processes get into a host of the lab, and how they end.
#pragma once

#include <string>

#include "common/system.h"

namespace mutirao::lab {

/// Joins the host's namespaces, keeping the working folder, and sets MUTILAB_HOST. The connection
/// that is returned closes when the lab ends. Throws SetupError.
UniqueFd enter_host(const std::string& host);

// Ends everything that this process started, also what has left its session or its parent.

/// To those children that are this process's own now, e.g. a shell's command once the shell ended.
void signal_children(int signal);

/// To all descendants that share this process's group: what a terminal does on Ctrl-C. A shell
/// alone would not end before the command that it waits for.
void signal_own_group(int signal);

/// For a subreaper: orphans come back to it, so killing children until none comes back ends all.
void kill_descendants();

}  // namespace mutirao::lab
