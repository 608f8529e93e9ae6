#include "tool/replay_tracks.h"

#include <algorithm>
#include <utility>

namespace mutirao::tool {
namespace {

/// Hosts with another parent.
int difference(const Tree& before, const Tree& after) {
    int count = 0;
    for (std::size_t host = 0; host < before.parent.size(); ++host) {
        count += before.parent[host] != after.parent[host] ? 1 : 0;
    }
    return count;
}

std::optional<double> time_us(const Track& track, const Topology& actual,
                              const Broadcasts& broadcasts) {
    if (!track.tree()) return std::nullopt;
    return predict_tree(*track.tree(), actual.network, broadcasts.length_bytes);
}

TrackTimes advance(Family& family, std::optional<Tree> adapted, std::optional<Tree> made_anew,
                   const Topology& actual, const Broadcasts& broadcasts) {
    if (!family.first.tree()) family.first.use(made_anew);
    TrackTimes times;
    times.adapting_exchanged = family.adapting.use(std::move(adapted));
    times.always_exchanged = family.always.use(std::move(made_anew));
    times.first_us = time_us(family.first, actual, broadcasts);
    times.adapting_us = time_us(family.adapting, actual, broadcasts);
    times.always_us = time_us(family.always, actual, broadcasts);
    return times;
}

std::optional<Tree> adapted_tree(const std::optional<Tree>& present, const Topology& announced,
                                 const Broadcasts& broadcasts) {
    if (!present) return fastest_tree(announced, broadcasts.root, broadcasts.length_bytes);
    const auto renewal =
        renew(*present, announced, broadcasts.length_bytes, broadcasts.tolerance_percent);
    return renewal ? std::optional(renewal->tree) : present;
}

std::optional<Tree> spanning_tree(const Topology& topology, const Broadcasts& broadcasts) {
    return make_tree(topology, TreeKind::minimum_spanning, broadcasts.root,
                     broadcasts.length_bytes);
}

}  // namespace

int Track::use(std::optional<Tree> tree) {
    if (!tree) return 0;
    const int exchanged = tree_ ? difference(*tree_, *tree) : 0;
    tree_ = std::move(tree);
    switches_ += exchanged > 0 ? 1 : 0;
    exchanged_links_ += exchanged;
    return exchanged;
}

TrackTimes fastest_trees(Family& family, const Topology& actual, const Topology& announced,
                         const Broadcasts& broadcasts) {
    return advance(family, adapted_tree(family.adapting.tree(), announced, broadcasts),
                   fastest_tree(actual, broadcasts.root, broadcasts.length_bytes), actual,
                   broadcasts);
}

TrackTimes spanning_trees(Family& family, const Topology& actual, const Topology& announced,
                          const Broadcasts& broadcasts) {
    return advance(family, spanning_tree(announced, broadcasts), spanning_tree(actual, broadcasts),
                   actual, broadcasts);
}

std::optional<double> bound_us(const Network& actual, const Broadcasts& broadcasts) {
    Network free = actual;
    for (int host = 0; host < free.host_count(); ++host) free.set_host(host, {});
    const auto tree = shortest_path_tree(free, broadcasts.root, broadcasts.length_bytes);
    return tree ? predict_tree(*tree, free, broadcasts.length_bytes) : std::nullopt;
}

}  // namespace mutirao::tool
