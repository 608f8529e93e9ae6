#include "simulate/graphs.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>

namespace mutirao::simulate {

EdgeList Graph::links() const {
    EdgeList list;
    for (const Weight& edge : edges) list.emplace_back(edge.low, edge.high);
    return list;
}

std::vector<ghs::Neighbour> Graph::neighbours(int host) const {
    std::vector<ghs::Neighbour> list;
    for (const Weight& edge : edges) {
        if (edge.low == host) list.push_back({edge.high, edge});
        if (edge.high == host) list.push_back({edge.low, edge});
    }
    return list;
}

EdgeList complete_links(int hosts) {
    EdgeList links;
    for (int low = 0; low < hosts; ++low)
        for (int high = low + 1; high < hosts; ++high) links.emplace_back(low, high);
    return links;
}

EdgeList cycle_links(int hosts) {
    EdgeList links;
    for (int host = 0; host + 1 < hosts; ++host) links.emplace_back(host, host + 1);
    links.emplace_back(0, hosts - 1);
    return links;
}

Graph weighted(int hosts, const EdgeList& links, const std::vector<double>& values) {
    Graph graph{hosts, {}};
    for (std::size_t i = 0; i < links.size(); ++i) {
        const auto [low, high] = links[i];
        graph.edges.push_back({values[i], low, high});
    }
    return graph;
}

namespace {

/// The renumberings of the hosts that map the links onto themselves, as permutations of links.
std::vector<std::vector<std::size_t>> symmetries(int hosts, const EdgeList& links) {
    std::map<std::pair<int, int>, std::size_t> index;
    for (std::size_t i = 0; i < links.size(); ++i) index[links[i]] = i;
    std::vector<std::vector<std::size_t>> found;
    std::vector<int> image(static_cast<std::size_t>(hosts));
    std::iota(image.begin(), image.end(), 0);
    do {
        std::vector<std::size_t> moved;
        for (const auto& [a, b] : links) {
            const auto target = index.find(std::minmax(image[static_cast<std::size_t>(a)],
                                                       image[static_cast<std::size_t>(b)]));
            if (target == index.end()) break;
            moved.push_back(target->second);
        }
        if (moved.size() == links.size()) found.push_back(std::move(moved));
    } while (std::ranges::next_permutation(image).found);
    return found;
}

}  // namespace

std::vector<Graph> all_weightings(int hosts, const EdgeList& links) {
    const auto maps = symmetries(hosts, links);
    std::vector<double> values(links.size());
    std::iota(values.begin(), values.end(), 1.0);
    std::set<std::vector<double>> seen;
    std::vector<Graph> graphs;
    do {
        if (seen.contains(values)) continue;
        graphs.push_back(weighted(hosts, links, values));
        for (const auto& map : maps) {
            std::vector<double> moved(values.size());
            for (std::size_t i = 0; i < map.size(); ++i) moved[map[i]] = values[i];
            seen.insert(std::move(moved));
        }
    } while (std::ranges::next_permutation(values).found);
    return graphs;
}

std::string describe(const Graph& graph) {
    std::string text = std::to_string(graph.hosts) + " hosts:";
    for (const Weight& edge : graph.edges) text += " " + text_of(edge);
    return text;
}

std::string text_of(const EdgeList& links) {
    std::string list;
    for (const auto& [low, high] : links) list += " " + std::to_string(low) + "-" + std::to_string(high);
    return list.empty() ? " no links" : list;
}

std::string text_of(const Weight& link) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%d-%d=%g", link.low, link.high, link.value);
    return text.data();
}

}  // namespace mutirao::simulate
