// What executions of few hosts in src/simulate do not show.
#include "core/spanning_tree/maintenance.h"

#include <gtest/gtest.h>

namespace mutirao::maintenance {
namespace {

TEST(Maintenance, TreeLinksToHostsThatAreGoneAreGone) {
    const Round round{0, {{0, 1}, {1, 2}, {2, 3}, {98, 99}}, {}, {0, 1}};
    Node node(1, {{0, {5, 0, 1}}}, round);
    node.start();
    const Output out = node.on(0, {Kind::not_fail, {}, {}});
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(out[0].message, (Message{Kind::not_fail_ack, {}, {{5, 0, 1}}}));
}

TEST(Recoveries, NothingIsTakenTwice) {
    const std::vector<Weight> tree = {{5, 0, 1}, {9, 1, 2}};
    EXPECT_EQ(with_recoveries(tree, {{5, 0, 1}}), tree);
    EXPECT_EQ(with_recoveries({}, {{5, 0, 1}}), std::vector<Weight>{});
}

}  // namespace
}  // namespace mutirao::maintenance
