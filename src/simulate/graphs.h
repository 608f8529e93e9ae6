// The small graphs that are explored.
#pragma once

#include <string>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/ghs.h"

namespace mutirao::simulate {

struct Graph {
    int hosts = 0;
    std::vector<Weight> edges;

    EdgeList links() const;
    std::vector<ghs::Neighbour> neighbours(int host) const;
};

EdgeList complete_links(int hosts);
EdgeList cycle_links(int hosts);
inline const EdgeList chorded_cycle = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}};

/// links[i] gets values[i].
Graph weighted(int hosts, const EdgeList& links, const std::vector<double>& values);
/// Every order of the values 1 .. number of links, once per class of orders that only renumber
/// the hosts: with distinct weights host numbers play no role.
std::vector<Graph> all_weightings(int hosts, const EdgeList& links);

/// "3 hosts: 0-1=2 1-2=0.5".
std::string describe(const Graph& graph);
/// " 0-1 1-2", or " no links".
std::string text_of(const EdgeList& links);
/// "0-1=0.5".
std::string text_of(const Weight& link);

}  // namespace mutirao::simulate
