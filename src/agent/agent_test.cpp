// Whole agents over the loopback interface: they find each other and agree on the tree, go round an
// agent that dies, and take it in again.
#include "agent/agent.h"

#include <gtest/gtest.h>

#include "agent/test_agents.h"

namespace mutirao::agent {
namespace {

using test::Agents;
using test::kruskal_of;
using test::within_a_minute;

TEST(Agent, AgentsThatKnowNothingAgreeOnTheMinimumSpanningTree) {
    Agents agents(5);
    for (int host = 0; host < agents.count(); ++host)
        ASSERT_TRUE(agents[host].running()) << agents[host].why_not();
    ASSERT_TRUE(within_a_minute([&] { return agents.agree_on({0, 1, 2, 3, 4}); }));
    const auto version = agents[3].view()->complete();
    ASSERT_TRUE(version);
    EXPECT_EQ(version->tree, kruskal_of(*version));
}

TEST(Agent, TheOthersGoRoundAnAgentThatEndedAndTakeItInAgain) {
    Agents agents(4);
    ASSERT_TRUE(within_a_minute([&] { return agents.agree_on({0, 1, 2, 3}); }));
    agents.end(1);
    ASSERT_TRUE(within_a_minute([&] { return agents.agree_on({0, 2, 3}); }));
    EXPECT_EQ(agents[0].view()->complete()->tree, kruskal_of(*agents[0].view()->complete()));
    agents.restart(1);
    ASSERT_TRUE(agents[1].running()) << agents[1].why_not();
    ASSERT_TRUE(within_a_minute([&] { return agents.agree_on({0, 1, 2, 3}); }));
    EXPECT_EQ(agents[1].view()->complete()->tree, kruskal_of(*agents[1].view()->complete()));
}

TEST(Agent, OneOfTwoHostsAlone) {
    Agents agents(2);
    ASSERT_TRUE(within_a_minute([&] { return agents.agree_on({0, 1}); }));
    agents.end(0);
    EXPECT_TRUE(within_a_minute([&] { return agents.agree_on({1}); }));
}

}  // namespace
}  // namespace mutirao::agent
