#include "core/epochs/route.h"

#include "core/network/tree.h"

namespace mutirao {
namespace {

// The decider tells so many ranks itself while it does not know the hosts.
constexpr int most_told_straight = 128;
// Who hands an announcement on does so inside its next call only, which may begin as much later.
constexpr double handing_on_us = 100'000;

/// When what leaves the root now is at each host.
std::vector<double> arrival_us(const Tree& tree, const Network& network) {
    std::vector<double> at_us(static_cast<std::size_t>(tree.size()), 0.0);
    std::vector<int> reached{tree.root};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        const int host = reached[next];
        for (const int child : tree.children[static_cast<std::size_t>(host)]) {
            at_us[static_cast<std::size_t>(child)] =
                at_us[static_cast<std::size_t>(host)] + network.link(host, child).latency_us;
            reached.push_back(child);
        }
    }
    return at_us;
}

}  // namespace

Route route_without_network(int rank_count) {
    return {rank_count <= most_told_straight ? Route::Kind::straight : Route::Kind::binomial, {}};
}

Route quickest_route(const Network& network, int here) {
    const int hosts = network.host_count();
    Route route{Route::Kind::hosts, {}};
    const std::optional<Tree> tree = shortest_path_tree(network, here, 0);
    if (!tree) {
        route.parent_of_host.assign(static_cast<std::size_t>(hosts), here);
        route.parent_of_host[static_cast<std::size_t>(here)] = -1;
        return route;
    }
    route.parent_of_host = tree->parent;
    const std::vector<double> shortest_us = arrival_us(*tree, network);
    for (int host = 0; host < hosts && hosts <= most_told_straight; ++host) {
        const auto index = static_cast<std::size_t>(host);
        const double straight_us = network.link(here, host).latency_us;
        if (host != here && straight_us <= shortest_us[index] + handing_on_us) {
            route.parent_of_host[index] = here;
        }
    }
    return route;
}

}  // namespace mutirao
