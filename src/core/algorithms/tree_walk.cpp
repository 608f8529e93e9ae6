#include "core/algorithms/tree_walk.h"

namespace mutirao {

std::vector<int> neighbours_in(const Tree& tree, int rank) {
    const auto index = static_cast<std::size_t>(rank);
    const auto children = tree.children[index];
    std::vector<int> neighbours;
    neighbours.reserve(children.size() + 1);
    if (tree.parent[index] >= 0) neighbours.push_back(tree.parent[index]);
    neighbours.insert(neighbours.end(), children.begin(), children.end());
    return neighbours;
}

std::vector<TreeVisit> nearest_first(const Tree& tree, int from, int barred) {
    std::vector<TreeVisit> order{{from, -1, -1, 0}};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const TreeVisit at = order[next];
        for (const int neighbour : neighbours_in(tree, at.rank)) {
            if (neighbour == at.previous || (next == 0 && neighbour == barred)) continue;
            order.push_back({neighbour, next == 0 ? neighbour : at.branch, at.rank,
                             at.distance + 1});
        }
    }
    return order;
}

}  // namespace mutirao
