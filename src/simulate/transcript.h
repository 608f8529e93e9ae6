// Executions as lines that people can read: what each choice is about to do, and what that changed. The last choice is
// named but not played: it may be the one that never returns.
//   3 -> 5 connect(level 0, knows 3)               of a round of tree maintenance, which merges fragments
//   5: find -> found
//   2 -> 0 not_fail_ack(tag 1, 0-2=3)
//   2 -> 0 news 0-1=5.0(0.1)                       of hosts that run them, and how all of these stand in the end
#pragma once

#include <string>
#include <vector>

#include "simulate/maintenance_world.h"
#include "simulate/rounds_world.h"

namespace mutirao::simulate {

std::string transcript(MaintenanceWorld world, const std::vector<MaintenanceWorld::Choice>& choices);
std::string transcript(RoundsWorld world, const std::vector<RoundsWorld::Choice>& choices);

}  // namespace mutirao::simulate
