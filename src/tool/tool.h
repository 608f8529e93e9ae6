// mutirao-core: the core's tables and functions as a program, so that the command line (Python)
// shows, predicts and checks with the very code that the library runs. JSON on stdout; a failure
// is one line on stderr, with exit code 2 for wrong input and 1 for what cannot be done.
#pragma once

#include "tool/arguments.h"

namespace mutirao::tool {

/// `arguments`: without the program's own name. Returns the exit code.
int run(const Words& arguments, std::ostream& out, std::ostream& err);

}  // namespace mutirao::tool
