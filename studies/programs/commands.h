// The commands of mutirao-studies; each takes the words after its name.
#pragma once

#include <ostream>

#include "tool/arguments.h"

namespace mutirao::tool {

void replay_trace(const Words& words, std::ostream& out);
void tell_choice(const Words& words, std::ostream& out);

}  // namespace mutirao::tool
