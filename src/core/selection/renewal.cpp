#include "core/selection/renewal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/network/tree_order.h"
#include "core/schedule/predictor.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Sums of the same latencies in another order differ in their last bits.
constexpr double rounding = 1 + 1e-9;

std::size_t index(int host) { return static_cast<std::size_t>(host); }

/// Hangs hosts one after the other, each when its time and parent are settled.
class Repair {
  public:
    Repair(const Tree& present, const Network& network, std::size_t length_bytes)
        : present_(present), network_(network), length_bytes_(length_bytes),
          time_us_(index(present.size()), never), parent_(index(present.size()), -1),
          nearest_us_(index(present.size()), never), nearest_(index(present.size()), -1) {}

    /// latest_us[h]: when host h must have the message to keep its parent.
    Tree run(const std::vector<double>& latest_us) {
        settle(present_.root, 0, latest_us);
        for (;;) {
            int late = -1;
            for (int host = 0; host < present_.size(); ++host) {
                if (settled(host) || nearest_[index(host)] < 0) continue;
                if (late < 0 || nearest_us_[index(host)] < nearest_us_[index(late)]) late = host;
            }
            if (late < 0) break;
            parent_[index(late)] = nearest_[index(late)];
            settle(late, nearest_us_[index(late)], latest_us);
        }
        Tree tree = tree_from_parents(parent_, present_.root);
        const auto hop = [this](int from, int to) { return hop_us(from, to); };
        serve_longest_first(tree, {hop, [](int) { return 0.0; }});
        return tree;
    }

    /// Infinite if a host is left out.
    double completion_us() const { return *std::max_element(time_us_.begin(), time_us_.end()); }

  private:
    double hop_us(int from, int to) const {
        const Link link = network_.link(from, to);
        return link.latency_us + transmission_us(length_bytes_, link.bandwidth_bytes_per_us);
    }
    bool settled(int host) const { return std::isfinite(time_us_[index(host)]); }

    /// `host`, and below it all hosts that keep their parents.
    void settle(int host, double time_us, const std::vector<double>& latest_us) {
        time_us_[index(host)] = time_us;
        std::vector<int> open = {host};
        while (!open.empty()) {
            const int from = open.back();
            open.pop_back();
            for (const int child : present_.children[index(from)]) {
                const double child_us = time_us_[index(from)] + hop_us(from, child);
                if (settled(child) || child_us > latest_us[index(child)] * rounding) continue;
                time_us_[index(child)] = child_us;
                parent_[index(child)] = from;
                open.push_back(child);
            }
            offer(from);
        }
    }

    void offer(int from) {
        for (int host = 0; host < present_.size(); ++host) {
            const double host_us = time_us_[index(from)] + hop_us(from, host);
            if (settled(host) || host_us >= nearest_us_[index(host)]) continue;
            nearest_us_[index(host)] = host_us;
            nearest_[index(host)] = from;
        }
    }

    const Tree& present_;
    const Network& network_;
    std::size_t length_bytes_;
    std::vector<double> time_us_;
    std::vector<int> parent_;
    std::vector<double> nearest_us_;  ///< of hosts that are not settled: from the settled ones
    std::vector<int> nearest_;
};

int exchanged(const Tree& before, const Tree& after) {
    int count = 0;
    for (std::size_t host = 0; host < before.parent.size(); ++host) {
        count += before.parent[host] != after.parent[host] ? 1 : 0;
    }
    return count;
}

}  // namespace

std::optional<double> predict_tree(const Tree& tree, const Network& network,
                                   std::size_t length_bytes) {
    const Algorithm* over_tree = find_algorithm(Collective::broadcast, "tree");
    if (!over_tree) broken_invariant("rows named tree in the catalogue", 0, 1);
    if (tree.size() != network.host_count()) {
        broken_invariant("hosts of a tree", tree.size(), network.host_count());
    }
    std::vector<Schedule> schedules;
    for (int rank = 0; rank < tree.size(); ++rank) {
        schedules.push_back(over_tree->build({.rank = rank,
                                              .size = tree.size(),
                                              .root = tree.root,
                                              .length_bytes = length_bytes,
                                              .tree = &tree}));
    }
    const Prediction prediction = predict(schedules, network);
    return prediction.stuck ? std::nullopt : std::optional(prediction.completion_us);
}

std::optional<Tree> fastest_tree(const Topology& topology, int root, std::size_t length_bytes) {
    std::optional<Tree> fastest;
    double fastest_us = never;
    for (const TreeKind kind : {TreeKind::shortest_path, TreeKind::greedy,
                                TreeKind::minimum_spanning, TreeKind::two_level}) {
        const auto tree = make_tree(topology, kind, root, length_bytes);
        const auto time_us =
            tree ? predict_tree(*tree, topology.network, length_bytes) : std::nullopt;
        if (!time_us || *time_us >= fastest_us) continue;
        fastest = tree;
        fastest_us = *time_us;
    }
    return fastest;
}

std::optional<Tree> repaired_tree(const Tree& present, const Network& network,
                                  std::size_t length_bytes, double deadline_us) {
    const auto shortest = shortest_path_tree(network, present.root, length_bytes);
    if (!shortest) return std::nullopt;
    std::vector<double> latest_us = arrivals_us(*shortest, network, length_bytes);
    const double farthest_us = *std::max_element(latest_us.begin(), latest_us.end());
    for (double& host_us : latest_us) host_us += deadline_us - farthest_us;
    for (const auto& limits : {std::vector(latest_us.size(), deadline_us), latest_us}) {
        Repair repair(present, network, length_bytes);
        const Tree tree = repair.run(limits);
        if (repair.completion_us() <= deadline_us * rounding) return tree;
    }
    return std::nullopt;
}

std::optional<Renewal> renew(const Tree& present, const Topology& now, std::size_t length_bytes,
                             RenewalRule rule) {
    const auto best = fastest_tree(now, present.root, length_bytes);
    if (!best) return std::nullopt;
    const double best_us = *predict_tree(*best, now.network, length_bytes);
    const double limit_us = best_us * (1 + rule.tolerance_percent / 100);
    const auto present_us = predict_tree(present, now.network, length_bytes);
    if (present_us && *present_us <= limit_us) return Renewal{present, *present_us, best_us, 0};
    // Overheads are not in the deadline, so the result is predicted like any other.
    const auto repaired = repaired_tree(present, now.network, length_bytes, limit_us);
    const auto repaired_us =
        repaired ? predict_tree(*repaired, now.network, length_bytes) : std::nullopt;
    const bool in_time = repaired_us && *repaired_us <= limit_us;
    const Tree& chosen = in_time ? *repaired : *best;
    return Renewal{chosen, in_time ? *repaired_us : best_us, best_us, exchanged(present, chosen)};
}

}  // namespace mutirao
