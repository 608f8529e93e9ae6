// Executions of the spanning tree algorithm as lines that people can read:
//   3 -> 5 connect(level 0, knows 3)
//   5: find -> found
#pragma once

#include <string>
#include <vector>

#include "simulate/spanning_tree_rules.h"

namespace mutirao::simulate {

std::string describe(const ghs::Message& message);
/// What the choice is about to do.
std::string describe(const GhsWorld& world, const GhsWorld::Choice& choice);

/// Plays the choices and tells what each did. With `last_only_announced` the last one is named but
/// not played: for when it would not return.
std::string transcript(GhsWorld world, const std::vector<GhsWorld::Choice>& choices,
                       bool last_only_announced = false);

}  // namespace mutirao::simulate
