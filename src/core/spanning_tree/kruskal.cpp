#include "core/spanning_tree/kruskal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Disjoint sets of hosts, with path halving.
class Components {
  public:
    explicit Components(int count) : parent_(static_cast<std::size_t>(count)) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }

    /// False if both were together already.
    bool unite(int a, int b) {
        const int first = find(a);
        const int second = find(b);
        at(first) = second;
        return first != second;
    }

  private:
    int& at(int host) { return parent_[static_cast<std::size_t>(host)]; }

    int find(int host) {
        while (at(host) != host) {
            at(host) = at(at(host));
            host = at(host);
        }
        return host;
    }

    std::vector<int> parent_;
};

}  // namespace

Weight link_weight(const Network& network, int a, int b) {
    const double latency_us =
        std::max(network.link(a, b).latency_us, network.link(b, a).latency_us);
    return {latency_us, std::min(a, b), std::max(a, b)};
}

EdgeList kruskal(int host_count, std::vector<WeightedEdge> edges) {
    std::erase_if(edges,
                  [](const WeightedEdge& edge) { return !std::isfinite(edge.weight.value); });
    std::ranges::sort(edges, {}, &WeightedEdge::weight);
    Components components(host_count);
    EdgeList forest;
    for (const WeightedEdge& edge : edges) {
        const auto [low, high] = std::minmax(edge.low, edge.high);
        if (low < 0) broken_invariant("edge's low end among hosts", low, host_count);
        if (high >= host_count) broken_invariant("edge's high end among hosts", high, host_count);
        if (components.unite(low, high)) forest.emplace_back(low, high);
    }
    std::ranges::sort(forest);
    return forest;
}

EdgeList minimum_spanning_tree(const Network& network) {
    std::vector<WeightedEdge> edges;
    for (int low = 0; low < network.host_count(); ++low) {
        for (int high = low + 1; high < network.host_count(); ++high) {
            if (network.link(low, high).usable() && network.link(high, low).usable())
                edges.push_back({low, high, link_weight(network, low, high)});
        }
    }
    return kruskal(network.host_count(), std::move(edges));
}

}  // namespace mutirao
