// The tool's commands. Each takes the words after its name and writes to `out`, or throws
// UsageError or Failure.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace mutirao::tool {

using Words = std::vector<std::string>;

void list_algorithms(const Words& words, std::ostream& out);
void list_settings(const Words& words, std::ostream& out);
void check_settings(const Words& words, std::ostream& out);
void show_schedule(const Words& words, std::ostream& out);
void predict_candidates(const Words& words, std::ostream& out);
void show_tree(const Words& words, std::ostream& out);
void replay_trace(const Words& words, std::ostream& out);

}  // namespace mutirao::tool
