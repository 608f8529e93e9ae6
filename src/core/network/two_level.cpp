// MagPIe's two levels (Kielmann et al. 1999, doi:10.1145/301104.301116): the long ways first, each
// site once, and inside a site the binomial tree that broadcast/binomial would use there.
#include <algorithm>
#include <map>

#include "core/algorithms/shape.h"
#include "core/network/tree.h"

namespace mutirao {

namespace {

/// Adds the binomial tree over `hosts` hung from hosts[first].
void add_site(Tree& tree, std::vector<std::vector<int>>& children, const std::vector<int>& hosts,
              int first) {
    const int size = static_cast<int>(hosts.size());
    for (int position = 0; position < size; ++position) {
        const TreePlace place = with_real_ranks(
            k_nomial_place(virtual_rank(position, first, size), size, 2), first, size);
        const int host = hosts[static_cast<std::size_t>(position)];
        for (const int child_position : place.children) {
            const int child = hosts[static_cast<std::size_t>(child_position)];
            children[static_cast<std::size_t>(host)].push_back(child);
            tree.parent[static_cast<std::size_t>(child)] = host;
        }
    }
}

}  // namespace

Tree two_level_tree(const std::vector<int>& site_of, int root) {
    std::map<int, std::vector<int>> hosts_of;
    for (std::size_t host = 0; host < site_of.size(); ++host) {
        hosts_of[site_of[host]].push_back(static_cast<int>(host));
    }
    Tree tree{root, std::vector<int>(site_of.size(), -1), {}};
    std::vector<std::vector<int>> children(site_of.size());

    const int root_site = site_of[static_cast<std::size_t>(root)];
    std::vector<int> coordinators;
    for (const auto& [site, hosts] : hosts_of) {
        if (site == root_site) continue;
        coordinators.push_back(hosts.front());
        tree.parent[static_cast<std::size_t>(hosts.front())] = root;
        add_site(tree, children, hosts, 0);
    }
    std::sort(coordinators.begin(), coordinators.end());
    children[static_cast<std::size_t>(root)] = std::move(coordinators);

    const std::vector<int>& home = hosts_of.at(root_site);
    const auto position = std::find(home.begin(), home.end(), root) - home.begin();
    add_site(tree, children, home, static_cast<int>(position));
    tree.children = children;
    return tree;
}

}  // namespace mutirao
