// What recovered links do to a tree that was minimal without them.
#pragma once

#include <vector>

#include "core/spanning_tree/weight.h"

namespace mutirao::maintenance {

/// Each recovered link in turn closes a cycle with the tree, and the worst link of the cycle goes.
/// The result is a minimum spanning tree of all these links. Both trees are sorted by ends.
std::vector<Weight> with_recoveries(std::vector<Weight> tree, const std::vector<Weight>& recovered);

/// Sorted by ends.
void sort_by_ends(std::vector<Weight>& links);

}  // namespace mutirao::maintenance
