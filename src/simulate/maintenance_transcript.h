// Rounds of tree maintenance as lines that people can read:
//   2 -> 0 [1] not_fail_ack(tag 1, 0-2=3)
//   0: find -> found
#pragma once

#include <string>
#include <vector>

#include "simulate/maintenance_world.h"

namespace mutirao::simulate {

std::string describe(const maintenance::Message& message);
std::string describe(const MaintenanceWorld& world, const MaintenanceWorld::Choice& choice);

/// Plays the choices and tells what each did. With `last_only_announced` the last one is named but
/// not played: for when it would not return.
std::string transcript(MaintenanceWorld world, const std::vector<MaintenanceWorld::Choice>& choices,
                       bool last_only_announced = false);

}  // namespace mutirao::simulate
