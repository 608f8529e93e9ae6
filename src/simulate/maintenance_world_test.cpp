// Every order of messages and of hosts entering a round, on graphs small enough for that. That links change while a
// round runs is nothing to it: rounds_world_test.cpp, whose random walks take rounds through large graphs, too. Without a
// tree a round is the algorithm of Gallager, Humblet and Spira alone (core/spanning_tree/ghs.h).
//
// Planted in a copy, these faults were caught, the simplest scenario named first:
//   from nothing   channels that are not first-in-first-out; the end of the merging not passed on,
//                  or told before the last connect has made its link a branch; messages of a search
//                  cut short handled, or kept; a parent taken for a child; links of a subtree lost;
//                  an acknowledgement before one knows the end, before the subtree's, twice, or
//                  never; gosleep_rec not passed on
//   triangle       recovered links treated as others while fragments merge; a host's own best link
//                  forgotten in reiden; only dead links taken for failures, or none; the lightest
//                  link of a cycle dropped; a recovered link taken whatever its weight; ties not
//                  broken by host numbers; gosleep_fail not passed on; recoveries acknowledged
//                  twice, with links counted at both ends, or not suspected to be over
//   chorded cycle  reports in reiden not noted or not heeded; links inside a fragment taken for
//                  outgoing ones; fellows unknown but for the nearest; the worst link of the tree
//                  dropped instead of the cycle's; only one recovery treated
//   five-cycle     a branch still counted as unreported after reiden
//   not here       tags not compared, the root's last-resort links told as such, tree links to
//                  hosts that are gone (maintenance_test.cpp); whatever only costs waves or
//                  messages (the timed runs of rounds_world_test.cpp): an end that nobody knows early,
//                  members that are tested, not_fail only after the merging, gosleep_fail where no
//                  recovery helps
#include "simulate/maintenance_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "simulate/executions.h"
#include "simulate/random.h"

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Scenario {
    Graph before;  ///< for which all hosts hold the tree; no links: there is no tree
    Graph now;     ///< the same links (all links if there is no tree)
    int root = 0;
};

MaintenanceWorld world_of(const Scenario& scenario) {
    const auto& [before, now, root] = scenario;
    maintenance::Round round{.root = root, .tree = kruskal(before.hosts, before.edges), .changes = {}, .hosts = {}};
    for (std::size_t i = 0; i < before.edges.size(); ++i) {
        const Weight& edge = now.edges[i];
        const double old_value = before.edges[i].value;
        if (old_value != edge.value) round.changes.push_back({edge.low, edge.high, old_value, edge.value});
    }
    for (int host = 0; host < now.hosts; ++host) round.hosts.insert(host);
    Graph links = now;
    std::erase_if(links.edges, [](const Weight& edge) { return !std::isfinite(edge.value); });
    std::vector<RoundNode> nodes;
    for (int host = 0; host < now.hosts; ++host) nodes.emplace_back(host, links.neighbours(host), round);
    return {std::move(nodes), links.links()};
}

/// What must hold whenever hosts go through a round, whatever the order of events; Kruskal's algorithm says which tree
/// must come of it. That no message but those of the search for the tree comes after the end each host checks by
/// itself.
class MaintenanceRules {
  public:
    /// Messages of each kind, by the number of maintenance::Kind; then those of merging that only
    /// tell the end (ghs::Kind::finish), which `merge` leaves out.
    static constexpr std::size_t kinds = 7;
    static constexpr std::size_t finishes = kinds;
    using Counts = std::array<std::int32_t, kinds + 1>;

    explicit MaintenanceRules(const Scenario& scenario)
        : hosts_(scenario.now.hosts),
          links_(static_cast<double>(scenario.now.edges.size())),
          has_tree_(!scenario.before.edges.empty()),
          expected_(kruskal(scenario.now.hosts, scenario.now.edges)) {}

    Counts count(int, const maintenance::Outgoing& outgoing) const {
        const maintenance::Message& message = outgoing.message;
        const bool tells_end = message.kind == maintenance::Kind::merge && message.merging.kind == ghs::Kind::finish;
        Counts counts{};
        counts[tells_end ? finishes : static_cast<std::size_t>(message.kind)] = 1;
        return counts;
    }
    std::string objection(const MaintenanceWorld&, const MaintenanceWorld::Choice&) const { return {}; }
    std::string objection_at_rest(const MaintenanceWorld& world) const {
        if (world.spontaneous_count() > 0) return {};
        for (int host = 0; host < world.host_count(); ++host)
            if (std::string objection = host_objection(world.machine(host)); !objection.empty())
                return "host " + std::to_string(host) + ": " + objection;
        return {};
    }
    /// Of the counts' greatest values over executions.
    std::string objection(const Counts& worst) const {
        for (std::size_t kind = 0; kind < worst.size(); ++kind) {
            const double most = kind == 0 ? most_merges() : kind == finishes ? 2 * (hosts_ - 1) : hosts_ - 1;
            if (worst[kind] > most)
                return std::to_string(worst[kind]) + " messages of kind " + std::to_string(kind) + ", more than " +
                       std::to_string(most);
        }
        return {};
    }
    /// Two messages per link for tests; a level doubles the fragments' size, and costs a host five messages; where
    /// there was a tree two more for finding the cores of what is left of it.
    double most_merges() const {
        return 2 * links_ + 5 * hosts_ * std::log2(hosts_) + (has_tree_ ? 2 * hosts_ : 0);
    }

  private:
    std::string host_objection(const RoundNode& node) const {
        if (!node.finished()) return "nothing is in flight but the round has not ended";
        if (node.waiting() > 0) return std::to_string(node.waiting()) + " messages still wait";
        if (node.tree() != expected_) return "tree" + text_of(node.tree()) + ", Kruskal's" + text_of(expected_);
        return {};
    }

    double hosts_, links_;
    bool has_tree_;
    EdgeList expected_;
};

std::string describe(const Scenario& scenario) {
    return "before: " + describe(scenario.before) + "\nnow:    " + describe(scenario.now) + "\n";
}

void explore_all(const std::vector<Scenario>& scenarios) {
    Explored total;
    for (const Scenario& scenario : scenarios) {
        const MaintenanceRules rules(scenario);
        const auto worst = explore(world_of(scenario), rules, describe(scenario), total);
        if (!worst) return;
        ASSERT_EQ(rules.objection(*worst), "") << describe(scenario);
        total.most_used = std::max(total.most_used, (*worst)[0] / rules.most_merges());
    }
    total.print();
}

bool joins_all(const Graph& graph) {
    return static_cast<int>(kruskal(graph.hosts, graph.edges).size()) == graph.hosts - 1;
}

/// A tree is to be built, and each host leads in turn.
std::vector<Scenario> from_nothing(const std::vector<Graph>& graphs) {
    std::vector<Scenario> scenarios;
    for (const Graph& graph : graphs)
        if (joins_all(graph)) scenarios.push_back({Graph{}, graph, static_cast<int>(scenarios.size()) % graph.hosts});
    return scenarios;
}

/// The graph with those links only whose bit is set.
Graph part_of(const Graph& graph, std::uint64_t kept) {
    Graph part{graph.hosts, {}};
    for (std::size_t i = 0; i < graph.edges.size(); ++i)
        if ((kept >> i & 1U) != 0) part.edges.push_back(graph.edges[i]);
    return part;
}

TEST(MaintenanceExplorer, BuildsTheTreeFromNothing) {
    explore_all(from_nothing({weighted(1, {}, {}), weighted(2, {{0, 1}}, {3.5}), weighted(2, {{0, 1}}, {3.5})}));
    std::vector<Scenario> triangles;
    for (const Graph& graph : all_weightings(3, complete_links(3)))
        for (int root = 0; root < 3; ++root) triangles.push_back({Graph{}, graph, root});
    explore_all(triangles);
    explore_all(from_nothing(all_weightings(4, chorded_cycle)));
    explore_all(from_nothing(all_weightings(4, complete_links(4))));
    explore_all(from_nothing(all_weightings(5, cycle_links(5))));
}

// Trees, and such with one link more.
TEST(MaintenanceExplorer, BuildsTheTreeFromNothingOverFewLinks) {
    std::vector<Graph> graphs;
    for (const Graph& complete : all_weightings(4, complete_links(4)))
        for (std::uint64_t kept = 0; kept < 64; ++kept) graphs.push_back(part_of(complete, kept));
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        Random(seed).shuffle(values);
        graphs.push_back(part_of(weighted(5, complete_links(5), values), scramble(seed)));
    }
    std::erase_if(graphs, [](const Graph& graph) { return std::ssize(graph.edges) > graph.hosts; });
    explore_all(from_nothing(graphs));
}

TEST(MaintenanceExplorer, EqualWeightsFallBackOnHostNumbers) {
    std::vector<Graph> graphs;
    for (const EdgeList& links : {chorded_cycle, complete_links(4), cycle_links(4)})
        graphs.push_back(weighted(4, links, std::vector<double>(links.size(), 7)));
    explore_all(from_nothing(graphs));
}

// Ties and dead links among them; before, dead links may even part the hosts. The root is always
// the same host, but the weights are not.
TEST(MaintenanceExplorer, EveryChangeOfATriangle) {
    const std::array values = {1.0, 2.0, 3.0, never};
    std::vector<Graph> graphs;
    for (const double a : values)
        for (const double b : values)
            for (const double c : values) graphs.push_back(weighted(3, complete_links(3), {a, b, c}));
    std::vector<Scenario> scenarios;
    for (const Graph& before : graphs)
        for (const Graph& now : graphs)
            if (joins_all(now)) scenarios.push_back({before, now});
    explore_all(scenarios);
}

/// So many changes at random, in which most links keep their weights.
void explore_changes(int hosts, const EdgeList& links, int count) {
    constexpr std::array values = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, never};
    std::vector<Scenario> scenarios;
    Random random(static_cast<std::uint64_t>(hosts) + links.size());
    const auto draw = [&] { return values[random.below(values.size())]; };
    while (std::ssize(scenarios) < count) {
        std::vector<double> before(links.size()), now;
        for (double& value : before) value = draw();
        for (const double value : before) now.push_back(random.below(2) == 0 ? draw() : value);
        const Scenario scenario{weighted(hosts, links, before), weighted(hosts, links, now),
                                static_cast<int>(random.below(static_cast<std::size_t>(hosts)))};
        if (joins_all(scenario.now)) scenarios.push_back(scenario);
    }
    explore_all(scenarios);
}

TEST(MaintenanceExplorer, ChangesOfACycleWithAChord) { explore_changes(4, chorded_cycle, 400); }
TEST(MaintenanceExplorer, ChangesOfFourHosts) { explore_changes(4, complete_links(4), 300); }
TEST(MaintenanceExplorer, ChangesOfACycleOfFive) { explore_changes(5, cycle_links(5), 100); }
TEST(MaintenanceExplorer, ChangesOfFiveHosts) { explore_changes(5, complete_links(5), 15); }

// What explorers tell states by, of hosts that went through some executions.
TEST(Digest, IsEqualExactlyForEqualStates) {
    std::vector<RoundNode> states;
    Random random(1);
    const auto execute = [&](MaintenanceWorld world) {
        for (int host = 0; host < world.host_count(); ++host) states.push_back(world.machine(host));
        while (world.delivery_count() + world.spontaneous_count() > 0) {
            const std::size_t number = random.below(world.delivery_count() + world.spontaneous_count());
            const auto choice = number < world.delivery_count() ? world.delivery(number)
                                                                : world.spontaneous(number - world.delivery_count());
            world.apply(choice);
            states.push_back(world.machine(choice.to));
        }
    };
    for (const double weight : {1.0, 1.5, 1.5, 1.5, 5.0, 5.0}) {
        const Graph before = weighted(4, chorded_cycle, {1, 2, 3, 4, 0.5});
        const Graph now = weighted(4, chorded_cycle, {weight, 2, 6, 4, 7});
        execute(world_of({Graph{}, now, 1}));
        execute(world_of({before, now, 1}));
        execute(world_of({now, before, 0}));
    }
    for (const RoundNode& one : states)
        for (const RoundNode& other : states) EXPECT_EQ(digest_of(one) == digest_of(other), one == other);
}

TEST(Transcript, TellsWhatHappensAndCanStopBeforeTheLastChoice) {
    using Choice = MaintenanceWorld::Choice;
    const Graph triangle = weighted(3, {{0, 1}, {1, 2}, {0, 2}}, {1, 2, 4});
    EXPECT_EQ(transcript(world_of({Graph{}, triangle, 2}),
                         {{Choice::Kind::wake, -1, 0}, {Choice::Kind::deliver, 0, 1}}),
              "0 wakes up\n0 -> 1 connect(level 0, -1--1=0, knows 1 hosts)\n"
              "0: is in the round\n1: sleeps\n2: sleeps\n");
}

}  // namespace
}  // namespace mutirao::simulate
