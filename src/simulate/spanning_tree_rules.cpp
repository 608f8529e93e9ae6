#include "simulate/spanning_tree_rules.h"

#include <algorithm>
#include <cmath>

namespace mutirao::simulate {
namespace {

std::string text(const std::vector<int>& hosts) {
    std::string line = "{";
    for (int host : hosts) line += (line.size() > 1 ? ", " : "") + std::to_string(host);
    return line + "}";
}

std::size_t slot(int a, int b) {
    const auto [low, high] = std::minmax(a, b);
    return static_cast<std::size_t>(high * (high - 1) / 2 + low) % SpanningTreeRules::slots;
}

}  // namespace

GhsWorld ghs_world(const Graph& graph) {
    std::vector<ghs::Node> nodes;
    for (int host = 0; host < graph.hosts; ++host) nodes.emplace_back(host, graph.neighbours(host));
    return GhsWorld(std::move(nodes), graph.links());
}

SpanningTreeRules::SpanningTreeRules(const Graph& graph) {
    Facts facts;
    const auto hosts = static_cast<std::size_t>(graph.hosts);
    facts.branches.resize(hosts);
    facts.others.resize(hosts);
    const EdgeList forest = kruskal(graph.hosts, graph.edges);
    for (const auto& [low, high] : graph.links()) {
        const bool in_forest = std::ranges::binary_search(forest, std::pair(low, high));
        auto& lists = in_forest ? facts.branches : facts.others;
        lists[static_cast<std::size_t>(low)].push_back(high);
        lists[static_cast<std::size_t>(high)].push_back(low);
        if (!in_forest) facts.most_rejections[slot(low, high)] += 2;
    }
    for (auto& list : facts.branches) std::ranges::sort(list);

    const std::vector<int> lowest = components(graph);
    for (int first = 0; first < graph.hosts; ++first) {
        std::vector<int> members;
        for (int host = first; host < graph.hosts; ++host)
            if (lowest[static_cast<std::size_t>(host)] == first) members.push_back(host);
        if (members.empty()) continue;
        const double size = static_cast<double>(members.size());
        facts.most_messages += 5 * size * std::log2(size);
        facts.finishes += std::max(0, static_cast<int>(members.size()) - 2);
        facts.components.push_back(std::move(members));
    }
    facts.most_messages += 2 * static_cast<double>(graph.edges.size());
    facts_ = std::make_shared<const Facts>(std::move(facts));
}

bool SpanningTreeRules::in_tree(int from, int to) const {
    return std::ranges::binary_search(facts_->branches[static_cast<std::size_t>(from)], to);
}

SpanningTreeRules::Counts SpanningTreeRules::count(int from, const ghs::Outgoing& outgoing) const {
    const ghs::Kind kind = outgoing.message.kind;
    Counts counts{};
    counts[kind == ghs::Kind::finish ? finishes : messages] = 1;
    if (in_tree(from, outgoing.to)) return counts;
    std::int32_t& rejection = counts[rejections + slot(from, outgoing.to)];
    if (kind == ghs::Kind::test || kind == ghs::Kind::reject) rejection = 1;
    if (kind == ghs::Kind::accept) rejection = -1;
    return counts;
}

std::string SpanningTreeRules::objection(const GhsWorld& world,
                                         const GhsWorld::Choice& choice) const {
    if (choice.kind == GhsWorld::Choice::Kind::deliver && world.machine(choice.to).finished())
        return "a message reaches host " + std::to_string(choice.to) + ", which has finished";
    // Asked before each of a host's steps, so this costs too much on large graphs.
    constexpr int most_hosts = 8;
    return world.host_count() <= most_hosts ? knowledge_objection(world, choice.to) : "";
}

/// Fragments have joined over a link when both of its ends have taken it into the tree.
std::string SpanningTreeRules::knowledge_objection(const GhsWorld& world, int host) const {
    const auto took = [&](int from, int to) {
        return world.machine(from).link_state(to) == ghs::LinkState::branch;
    };
    HostSet fragment{host};
    std::vector<int> reached{host};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        const int from = reached[next];
        for (const int to : facts_->branches[static_cast<std::size_t>(from)]) {
            if (fragment.contains(to) || !took(from, to) || !took(to, from)) continue;
            fragment.insert(to);
            reached.push_back(to);
        }
    }
    for (const int member : world.machine(host).members().hosts())
        if (!fragment.contains(member))
            return "host " + std::to_string(host) + " takes host " + std::to_string(member) +
                   ", of another fragment, for a member";
    return {};
}

std::string SpanningTreeRules::objection_at_rest(const GhsWorld& world) const {
    for (const std::vector<int>& members : facts_->components) {
        const auto asleep = [&](int host) { return world.machine(host).asleep(); };
        if (std::ranges::all_of(members, asleep)) continue;
        for (int host : members) {
            const std::string objection =
                host_objection(world.machine(host), host, static_cast<int>(members.size()));
            if (!objection.empty()) return "host " + std::to_string(host) + ": " + objection;
        }
    }
    return {};
}

std::string SpanningTreeRules::host_objection(const ghs::Node& node, int host,
                                              int component_size) const {
    const auto& branches = facts_->branches[static_cast<std::size_t>(host)];
    if (!node.finished()) return "nothing is in flight but it has not finished";
    if (node.waiting() > 0) return std::to_string(node.waiting()) + " messages still wait";
    if (node.branches() != branches)
        return "branches to " + text(node.branches()) + ", Kruskal's to " + text(branches);
    if (node.hosts_in_tree() != component_size)
        return "counts " + std::to_string(node.hosts_in_tree()) + " hosts of " +
               std::to_string(component_size);
    for (int other : facts_->others[static_cast<std::size_t>(host)])
        if (node.link_state(other) != ghs::LinkState::rejected)
            return "link to " + std::to_string(other) + " is not rejected";
    return {};
}

std::string SpanningTreeRules::objection(const Counts& worst) const {
    if (worst[messages] > facts_->most_messages)
        return std::to_string(worst[messages]) + " messages, more than " +
               std::to_string(facts_->most_messages);
    if (worst[finishes] != facts_->finishes)
        return std::to_string(worst[finishes]) + " finish messages, expected " +
               std::to_string(facts_->finishes);
    for (std::size_t i = 0; i < slots; ++i)
        if (worst[rejections + i] > facts_->most_rejections[i])
            return "rejecting links took " + std::to_string(worst[rejections + i]) +
                   " messages, more than " + std::to_string(facts_->most_rejections[i]);
    return {};
}

}  // namespace mutirao::simulate
