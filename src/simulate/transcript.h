// Executions of the spanning tree algorithm as lines that people can read:
//   3 -> 5 connect(level 0, knows 3)
//   5: find -> found
#pragma once

#include <string>
#include <vector>

#include "simulate/maintenance_world.h"
#include "simulate/spanning_tree_rules.h"

namespace mutirao::simulate {

std::string describe(const ghs::Message& message);
/// What the choice is about to do.
std::string describe(const GhsWorld& world, const GhsWorld::Choice& choice);

/// Plays the choices and tells what each did. With `last_only_announced` the last one is named but
/// not played: for when it would not return.
std::string transcript(GhsWorld world, const std::vector<GhsWorld::Choice>& choices,
                       bool last_only_announced = false);

// Rounds of tree maintenance as lines that people can read:
//   2 -> 0 [1] not_fail_ack(tag 1, 0-2=3)
//   0: find -> found

std::string describe(const maintenance::Message& message);
std::string describe(const MaintenanceWorld& world, const MaintenanceWorld::Choice& choice);

/// Plays the choices and tells what each did. With `last_only_announced` the last one is named but
/// not played: for when it would not return.
std::string transcript(MaintenanceWorld world, const std::vector<MaintenanceWorld::Choice>& choices,
                       bool last_only_announced = false);

}  // namespace mutirao::simulate
