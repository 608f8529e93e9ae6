// Ends everything that this process started, also what has left its session or its parent.
#pragma once

namespace mutirao::lab {

/// To those children that are this process's own now, e.g. a shell's command once the shell ended.
void signal_children(int signal);

/// To all descendants that share this process's group: what a terminal does on Ctrl-C. A shell
/// alone would not end before the command that it waits for.
void signal_own_group(int signal);

/// For a subreaper: orphans come back to it, so killing children until none comes back ends all.
void kill_descendants();

}  // namespace mutirao::lab
