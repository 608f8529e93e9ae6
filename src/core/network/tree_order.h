// In what order a parent serves its children, once for all kinds of trees.
#pragma once

#include <functional>

#include "core/network/tree.h"

namespace mutirao {

/// Bytes over a bandwidth; an empty message takes no time, whatever the bandwidth.
double transmission_us(std::size_t length_bytes, double bandwidth_bytes_per_us);

/// From `parent` for every host (-1: the root); children in ascending order.
Tree tree_from_parents(std::vector<int> parent, int root);

/// What passing the message on costs.
struct ServingCosts {
    /// From the start of a send until the child has the message.
    std::function<double(int parent, int child)> delivery_us;
    /// From the start of a host's send until it can start the next.
    std::function<double(int parent)> busy_us;
};

/// Every parent serves first the child below which the longest path lies, ties by host number.
/// Since a host is busy equally long for each child, no other order completes earlier (Jackson's
/// rule for one machine with delivery times, 1955). Returns the completion time at the root.
double serve_longest_first(Tree& tree, const ServingCosts& costs);

}  // namespace mutirao
