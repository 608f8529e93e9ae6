// What mutirao-profile does; a function, so that tests run it in-process.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace mutirao::profile {

/// Returns the exit code.
int run(const std::vector<std::string>& words, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace mutirao::profile
