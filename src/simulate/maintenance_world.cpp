#include "simulate/maintenance_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mutirao::simulate {
namespace {

std::vector<maintenance::Change> changes_between(const Graph& before, const Graph& after) {
    std::vector<maintenance::Change> changes;
    for (std::size_t i = 0; i < before.edges.size(); ++i) {
        const Weight& edge = after.edges[i];
        const double old_value = before.edges[i].value;
        if (old_value != edge.value)
            changes.push_back({edge.low, edge.high, old_value, edge.value});
    }
    return changes;
}

}  // namespace

bool joins_all(const Graph& graph) {
    return static_cast<int>(kruskal(graph.hosts, graph.edges).size()) == graph.hosts - 1;
}

MaintenanceWorld maintenance_world(const Scenario& scenario) {
    Graph links = scenario.now;
    std::erase_if(links.edges, [](const Weight& edge) { return !std::isfinite(edge.value); });
    maintenance::Round round;
    round.root = scenario.root;
    round.tree = kruskal(scenario.before.hosts, scenario.before.edges);
    round.changes = changes_between(scenario.before, scenario.now);
    for (int host = 0; host < links.hosts; ++host) round.hosts.insert(host);
    std::vector<RoundNode> nodes;
    for (int host = 0; host < links.hosts; ++host) nodes.emplace_back(host, links.neighbours(host), round);
    return {std::move(nodes), links.links()};
}

// --- words for what happens -----------------------------------------------------------------------------

namespace {

constexpr std::array merging_names = {"connect", "initiate", "test", "accept", "reject", "report", "change-root",
                                      "finish"};
constexpr std::array kind_names = {"merge",   "not_fail",    "not_fail_ack", "gosleep_fail",
                                   "not_rec", "not_rec_ack", "gosleep_rec"};

template <class Enum>
std::string name(const auto& names, Enum value) {
    return names[static_cast<std::size_t>(value)];
}

std::string text(const maintenance::Message& message) {
    if (message.kind == maintenance::Kind::merge) {
        const ghs::Message& merging = message.merging;
        return name(merging_names, merging.kind) + "(level " + std::to_string(merging.level) + ", " +
               text_of(merging.fragment) + ", knows " + std::to_string(merging.members.count()) + " hosts)";
    }
    std::string links;
    for (const Weight& link : message.links) links += " " + text_of(link);
    return name(kind_names, message.kind) + "(" + links + " )";
}

}  // namespace

std::string MaintenanceWorld::describe(const Choice& choice) const {
    if (choice.kind == Choice::Kind::wake) return std::to_string(choice.to) + " wakes up";
    return std::to_string(choice.from) + " -> " + std::to_string(choice.to) + " " +
           text(next(choice.from, choice.to));
}

std::string MaintenanceWorld::describe(int host) const {
    const RoundNode& node = machine(host);
    std::string line = std::to_string(host) + (node.asleep() ? ": sleeps" : ": is in the round");
    if (node.waiting() > 0) line += ", " + std::to_string(node.waiting()) + " waiting";
    return node.finished() ? line + ", finished, tree" + text_of(node.tree()) : line;
}

// --- what must hold -------------------------------------------------------------------------------------

MaintenanceRules::MaintenanceRules(const Scenario& scenario)
    : hosts_(scenario.now.hosts),
      links_(static_cast<double>(scenario.now.edges.size())),
      has_tree_(!scenario.before.edges.empty()),
      expected_(kruskal(scenario.now.hosts, scenario.now.edges)) {}

MaintenanceRules::Counts MaintenanceRules::count(int, const maintenance::Outgoing& outgoing) const {
    const maintenance::Message& message = outgoing.message;
    const bool tells_end = message.kind == maintenance::Kind::merge && message.merging.kind == ghs::Kind::finish;
    Counts counts{};
    counts[tells_end ? finishes : static_cast<std::size_t>(message.kind)] = 1;
    return counts;
}

std::string MaintenanceRules::objection_at_rest(const MaintenanceWorld& world) const {
    if (world.spontaneous_count() > 0) return {};
    for (int host = 0; host < world.host_count(); ++host)
        if (std::string objection = host_objection(world.machine(host)); !objection.empty())
            return "host " + std::to_string(host) + ": " + objection;
    return {};
}

std::string MaintenanceRules::host_objection(const RoundNode& node) const {
    if (!node.finished()) return "nothing is in flight but the round has not ended";
    if (node.waiting() > 0) return std::to_string(node.waiting()) + " messages still wait";
    if (node.tree() != expected_) return "tree" + text_of(node.tree()) + ", Kruskal's" + text_of(expected_);
    return {};
}

std::string MaintenanceRules::objection(const Counts& worst) const {
    for (std::size_t kind = 0; kind < worst.size(); ++kind) {
        const double most = kind == 0 ? most_merges() : kind == finishes ? 2 * (hosts_ - 1) : hosts_ - 1;
        if (worst[kind] > most)
            return std::to_string(worst[kind]) + " messages of kind " + std::to_string(kind) + ", more than " +
                   std::to_string(most);
    }
    return {};
}

double MaintenanceRules::most_merges() const {
    return 2 * links_ + 5 * hosts_ * std::log2(hosts_) + (has_tree_ ? 2 * hosts_ : 0);
}

}  // namespace mutirao::simulate
