#include "simulate/maintenance_rules.h"

#include <algorithm>
#include <cmath>

namespace mutirao::simulate {
namespace {

using maintenance::Kind;

std::string text(const EdgeList& links) {
    std::string line = "{";
    for (const auto& [low, high] : links)
        line += (line.size() > 1 ? ", " : "") + std::to_string(low) + "-" + std::to_string(high);
    return line + "}";
}

std::vector<int> neighbours(const EdgeList& tree, int host) {
    std::vector<int> list;
    for (const auto& [low, high] : tree) {
        if (low == host) list.push_back(high);
        if (high == host) list.push_back(low);
    }
    std::ranges::sort(list);
    return list;
}

}  // namespace

MaintenanceRules::Counts MaintenanceRules::count(int, const RoundOutgoing& outgoing) const {
    const maintenance::Message& message = outgoing.message.message;
    const bool tells_end =
        message.kind == Kind::merge && message.merging.kind == ghs::Kind::finish;
    Counts counts{};
    counts[tells_end ? finishes : static_cast<std::size_t>(message.kind)] = 1;
    return counts;
}

std::string MaintenanceRules::objection(const MaintenanceWorld& world,
                                        const MaintenanceWorld::Choice& choice) const {
    using Choice = MaintenanceWorld::Choice;
    if (choice.kind == Choice::Kind::deliver) {
        const RoundMessage& next = world.next(choice.from, choice.to);
        const RoundHost& receiver = world.host(choice.to);
        if (next.round < receiver.round() && next.message.kind != Kind::merge)
            return "a message reaches host " + std::to_string(choice.to) + " after its round";
    }
    if (choice.kind == Choice::Kind::enter && world.host(choice.to).round() > 0)
        return host_objection(world, choice.to);
    if (choice.kind == Choice::Kind::open && world.newest_round() > 0)
        return host_objection(world, world.opened(world.newest_round()).round.root);
    return {};
}

std::string MaintenanceRules::objection_at_rest(const MaintenanceWorld& world) const {
    for (int host = 0; host < world.host_count(); ++host)
        if (world.host(host).round() < world.newest_round() && world.host(host).asleep()) return {};
    if (world.newest_round() == 0) return {};
    for (int host = 0; host < world.host_count(); ++host) {
        if (world.host(host).round() != world.newest_round())
            return "host " + std::to_string(host) + " cannot enter the newest round";
        const std::string objection = host_objection(world, host);
        if (!objection.empty()) return objection;
    }
    return {};
}

std::string MaintenanceRules::host_objection(const MaintenanceWorld& world, int host) {
    const maintenance::Node& node = *world.host(host).node();
    const EdgeList& expected = world.opened(world.host(host).round()).expected;
    const std::string who = "host " + std::to_string(host) + ": ";
    if (!node.finished()) return who + "nothing is in flight but the round has not ended";
    if (node.waiting() > 0) return who + std::to_string(node.waiting()) + " messages still wait";
    if (node.tree() != expected)
        return who + "tree " + text(node.tree()) + ", Kruskal's " + text(expected);
    if (node.branches() != neighbours(expected, host)) return who + "branches are not the tree's";
    if (node.state() != maintenance::State::found) return who + "has not settled";
    return {};
}

std::string MaintenanceRules::objection(const Counts& worst, const Graph& graph, int rounds) {
    const auto too_many = [](const std::string& what, double count, double most) {
        return count <= most ? std::string()
                             : std::to_string(count) + " messages " + what + ", more than " +
                                   std::to_string(most);
    };
    const double links = rounds * (graph.hosts - 1);
    for (std::size_t kind = 1; kind < kinds; ++kind)
        if (auto text = too_many("of kind " + std::to_string(kind), worst[kind], links);
            !text.empty())
            return text;
    if (auto text = too_many("that tell the merging's end", worst[finishes], 2 * links);
        !text.empty())
        return text;
    return too_many("of merging", worst[0], rounds * most_merges(graph));
}

double MaintenanceRules::most_merges(const Graph& graph) {
    const double hosts = graph.hosts;
    return 2 * static_cast<double>(graph.edges.size()) + 5 * hosts * std::log2(hosts) + 2 * hosts;
}

}  // namespace mutirao::simulate
