// Single steps of a round, beside the executions in src/simulate.
#include "core/spanning_tree/maintenance.h"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "core/network/tree.h"

namespace mutirao::maintenance {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

Round round_of(EdgeList tree, std::vector<Change> changes, HostSet hosts) {
    return {1, 0, std::move(tree), std::move(changes), std::move(hosts)};
}

/// Each host of the round with those of the links that are its own.
std::map<int, Node> nodes_of(const Round& round, const std::vector<Weight>& links) {
    std::map<int, Node> nodes;
    for (const int host : round.hosts.numbers()) {
        std::vector<ghs::Neighbour> own;
        for (const Weight& link : links) {
            if (link.low == host) own.push_back({link.high, link});
            if (link.high == host) own.push_back({link.low, link});
        }
        nodes.emplace(host, Node(host, own, round));
    }
    return nodes;
}

/// All messages in the order in which they were sent.
void play(std::map<int, Node>& nodes) {
    struct Sent {
        int from;
        Outgoing outgoing;
    };
    std::deque<Sent> queue;
    const auto send = [&](int from, const Output& output) {
        for (const Outgoing& outgoing : output) queue.push_back({from, outgoing});
    };
    for (auto& [host, node] : nodes) send(host, node.start());
    while (!queue.empty()) {
        const Sent sent = queue.front();
        queue.pop_front();
        send(sent.outgoing.to, nodes.at(sent.outgoing.to).on(sent.from, sent.outgoing.message));
    }
}

// Of the last resort they are while fragments merge, not in what is told of the tree.
TEST(Maintenance, RecoveredLinksJoinAHostThatTheTreeDidNotReach) {
    const Round round = round_of({{0, 1}}, {{0, 2, never, 4}, {1, 2, never, 3}}, {0, 1, 2});
    std::map<int, Node> nodes = nodes_of(round, {{5, 0, 1}, {4, 0, 2}, {3, 1, 2}});
    play(nodes);
    for (const auto& [host, node] : nodes)
        EXPECT_EQ(node.tree(), (EdgeList{{0, 2}, {1, 2}})) << host;
}

TEST(Maintenance, TreeLinksToHostsThatAreGoneAreGone) {
    const Round round = round_of({{0, 1}, {1, 2}, {2, 3}}, {}, {0, 1});
    std::map<int, Node> nodes = nodes_of(round, {{5, 0, 1}});
    play(nodes);
    for (const auto& [host, node] : nodes) EXPECT_EQ(node.tree(), (EdgeList{{0, 1}})) << host;
}

TEST(Recoveries, NothingIsTakenTwice) {
    const std::vector<Weight> tree = {{5, 0, 1}, {9, 1, 2}};
    EXPECT_EQ(with_recoveries(tree, {{5, 0, 1}}), tree);
    EXPECT_EQ(with_recoveries({}, {{5, 0, 1}}), std::vector<Weight>{});
}

}  // namespace
}  // namespace mutirao::maintenance
