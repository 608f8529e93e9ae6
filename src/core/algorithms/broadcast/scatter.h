// The first half of the broadcasts that scatter the message and gather it everywhere.
#pragma once

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"
#include "core/schedule/schedule.h"

namespace mutirao::broadcast {

/// Scatters one block per virtual rank down the binomial tree, the largest part first. Afterwards
/// virtual rank v holds the blocks v .. binomial_subtree_end(v, size) - 1: its children's too, and
/// what follows need not bring them again. Returns the receive; nothing at the root, nor where the
/// blocks are empty.
std::vector<StepId> scatter(Schedule& schedule, const Request& request, const Blocks& blocks);

}  // namespace mutirao::broadcast
