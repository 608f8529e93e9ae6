#include "tool/replay_foresight.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao::tool {
namespace {

/// Sums of the same latencies in another order differ in their last bits.
constexpr double rounding = 1 + 1e-9;

/// The longest path from the root, in latency.
double farthest_us(const Tree& tree, const Network& network) {
    std::vector<double> time_us(tree.parent.size(), 0);
    std::vector<int> order = {tree.root};
    double farthest = 0;
    for (std::size_t next = 0; next < order.size(); ++next) {
        const int from = order[next];
        for (const int child : tree.children[static_cast<std::size_t>(from)]) {
            const double child_us = time_us[static_cast<std::size_t>(from)] +
                                    network.link(from, child).latency_us;
            time_us[static_cast<std::size_t>(child)] = child_us;
            farthest = std::max(farthest, child_us);
            order.push_back(child);
        }
    }
    return farthest;
}

/// A slice in units of its bound, so that slices can be compared.
struct Relative {
    Network network;
    double bound_us;
};

std::optional<Relative> relative(Network network, int root) {
    const auto shortest = shortest_path_tree(network, root, 0);
    if (!shortest) return std::nullopt;
    return Relative{network, farthest_us(*shortest, network)};
}

/// Each link as bad as in the worst of the slices.
void worsen(Network& worst, const Relative& slice) {
    for (int a = 0; a < worst.host_count(); ++a) {
        for (int b = 0; b < worst.host_count(); ++b) {
            Link link = worst.link(a, b);
            const double share = slice.network.link(a, b).latency_us / slice.bound_us;
            link.latency_us = std::max(link.latency_us, share);
            if (a != b) worst.set_link(a, b, link);
        }
    }
}

/// From slice `begin` on, how many slices one tree can last.
class Lasting {
  public:
    Lasting(const std::vector<Relative>& slices, std::size_t begin, int root, double near_percent)
        : slices_(slices), begin_(begin), root_(root), near_percent_(near_percent),
          worst_(slices[begin].network.host_count()) {}

    std::size_t end() {
        std::size_t end = begin_;
        for (; end < slices_.size(); ++end) {
            worsen(worst_, slices_[end]);
            if (tree_ && near(*tree_, end)) continue;
            tree_ = shortest_path_tree(worst_, root_, 0);
            if (!tree_ || !near_since_begin(*tree_, end)) break;
        }
        return end;
    }

  private:
    bool near(const Tree& tree, std::size_t slice) const {
        const double most_us = slices_[slice].bound_us * (1 + near_percent_ / 100);
        return farthest_us(tree, slices_[slice].network) <= most_us * rounding;
    }
    bool near_since_begin(const Tree& tree, std::size_t last) const {
        for (std::size_t slice = begin_; slice <= last; ++slice) {
            if (!near(tree, slice)) return false;
        }
        return true;
    }

    const std::vector<Relative>& slices_;
    std::size_t begin_;
    int root_;
    double near_percent_;
    Network worst_;
    std::optional<Tree> tree_;
};

}  // namespace

int trees_with_foresight(const std::vector<Network>& slices, const Broadcasts& broadcasts,
                         double near_percent) {
    std::vector<Relative> reachable;
    for (const Network& network : slices) {
        auto slice = relative(network, broadcasts.root);
        if (slice && slice->bound_us > 0) reachable.push_back(std::move(*slice));
    }
    int trees = 0;
    for (std::size_t begin = 0; begin < reachable.size(); ++trees) {
        const std::size_t end =
            Lasting(reachable, begin, broadcasts.root, near_percent).end();
        if (end == begin) broken_invariant("slices that a tree lasts", 0, 1);
        begin = end;
    }
    return trees;
}

}  // namespace mutirao::tool
