// Kruskal's sequential minimum spanning tree: the oracle for the distributed ones, and what tools
// use where the whole matrix is at hand.
#pragma once

#include "core/network/network.h"
#include "core/network/tree.h"
#include "core/spanning_tree/ghs.h"

namespace mutirao {

/// The weight that both ends of a link use: the larger of its two latencies.
Weight link_weight(const Network& network, int a, int b);

struct WeightedEdge {
    int low;
    int high;
    Weight weight;
};

/// Edges (low, high) of the minimum spanning forest, sorted.
EdgeList kruskal(int host_count, std::vector<WeightedEdge> edges);
EdgeList minimum_spanning_tree(const Network& network);

}  // namespace mutirao
