// The ring of the reducing collectives: every block starts beside the rank that is to have it, goes
// round once, and each rank adds its own operand to it.
#pragma once

#include <functional>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao {

/// `blocks`: of the operand, one for each rank. The block that arrives in a step, 0 .. size - 2, is
/// combined at `place`; the last one is the rank's own. Operands must commute. Blocks go in
/// segments.
void ring_reduce_scatter(Dataflow& flow, const Request& request, const Blocks& blocks,
                         const std::function<Region(int step, int block)>& place);

/// Blocks lie where the message has them, in the output; each rank has its own at first.
void ring_allgather(Dataflow& flow, const Request& request, const Blocks& blocks);

}  // namespace mutirao
