#include "core/spanning_tree/maintenance_recoveries.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mutirao::maintenance {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

using LinksByHost = std::vector<std::vector<std::size_t>>;

LinksByHost links_by_host(const std::vector<Weight>& forest, int least_hosts) {
    int hosts = least_hosts;
    for (const Weight& link : forest) hosts = std::max(hosts, link.high + 1);
    LinksByHost links(static_cast<std::size_t>(hosts));
    for (std::size_t i = 0; i < forest.size(); ++i) {
        links[static_cast<std::size_t>(forest[i].low)].push_back(i);
        links[static_cast<std::size_t>(forest[i].high)].push_back(i);
    }
    return links;
}

struct Reached {
    int host = -1;
    std::size_t over = none;   ///< the link that led there
    std::size_t worst = none;  ///< of the path from the start
};

/// The worst link of the path between the ends of `closing`; none if there is no path.
std::size_t worst_of_cycle(const std::vector<Weight>& forest, const Weight& closing) {
    const LinksByHost links = links_by_host(forest, closing.high + 1);
    std::vector<Reached> reached{{closing.low, none, none}};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        const Reached here = reached[next];
        if (here.host == closing.high) return here.worst;
        for (const std::size_t i : links[static_cast<std::size_t>(here.host)]) {
            if (i == here.over) continue;
            const Weight& link = forest[i];
            const bool worse = here.worst == none || forest[here.worst] < link;
            reached.push_back(
                {link.low == here.host ? link.high : link.low, i, worse ? i : here.worst});
        }
    }
    return none;
}

}  // namespace

void sort_by_ends(std::vector<Weight>& links) {
    std::ranges::sort(links, {}, [](const Weight& link) { return std::pair(link.low, link.high); });
}

std::vector<Weight> with_recoveries(std::vector<Weight> tree,
                                    const std::vector<Weight>& recovered) {
    for (const Weight& link : recovered) {
        if (std::ranges::find(tree, link) != tree.end()) continue;
        const std::size_t worst = worst_of_cycle(tree, link);
        if (worst != none && link < tree[worst]) tree[worst] = link;
    }
    sort_by_ends(tree);
    return tree;
}

}  // namespace mutirao::maintenance
