// Allgathers that send every block down a binomial tree of its own, the longest distances first.
#pragma once

#include "core/algorithms/algorithm.h"

namespace mutirao::allgather {

/// Blocks that go the same way are packed, up to `most_blocks` into a message. A block goes on as
/// soon as its message has come.
Schedule far_first(const Request& request, int most_blocks);

}  // namespace mutirao::allgather
