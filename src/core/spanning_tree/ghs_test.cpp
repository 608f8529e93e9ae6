// What the messages' orders do not decide: single hosts, copies, and misuse. Whole executions are
// explored in src/simulate.
#include "core/spanning_tree/ghs.h"

#include <gtest/gtest.h>

namespace mutirao::ghs {
namespace {

/// Of a network of eight hosts.
Node lone(int self, const std::vector<Neighbour>& neighbours) {
    return {self, neighbours, {{}, {self}, {0, 1, 2, 3, 4, 5, 6, 7}}};
}

// A connect at one's own level waits; only the answer to it names its sender's members.
TEST(Ghs, AWaitingConnectTellsNothing) {
    const Weight core{5, 0, 1};
    Node node = lone(0, {{1, core}, {2, {6, 0, 2}}});
    node.wake();
    EXPECT_TRUE(node.on(2, {Kind::connect, 0, {}, State::sleeping, {2, 3}}).empty());
    EXPECT_TRUE(node.members() == HostSet{0});
    const Output out = node.on(1, {Kind::initiate, 1, core, State::found, {0, 1}});
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(out[0].to, 2);
    EXPECT_EQ(out[0].message,
              (Message{Kind::initiate, 1, core, State::found, {0, 1, 2, 3}}));
}

TEST(GhsDeathTest, MisuseAbortsWithBothValues) {
    const Neighbour one{1, {5, 0, 1}};
    EXPECT_DEATH(lone(0, {{1, {5, 0, 2}}}), "host 0, link's high end: 2 against 1");
    EXPECT_DEATH(lone(0, {one}).on(3, Message{}), "no such neighbour, of how many: 3 against 1");
    EXPECT_DEATH(lone(0, {one}).on(1, {Kind::reject, 0, {}, State::sleeping, {1}}),
                 "reject without a test, from: 1 against -1");
}

}  // namespace
}  // namespace mutirao::ghs
