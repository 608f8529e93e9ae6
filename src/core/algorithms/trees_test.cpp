#include "core/algorithms/trees.h"

#include <gtest/gtest.h>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

struct Expected {
    StepKind kind;
    int peer;
    std::size_t offset_bytes;
    std::size_t length_bytes;
    std::vector<StepId> after;
};

void expect_steps(const Schedule& schedule, const std::vector<Expected>& expected) {
    ASSERT_EQ(schedule.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Step& step = schedule.steps()[i];
        const Region& region = step.kind == StepKind::send ? step.source : step.target;
        EXPECT_EQ(step.kind, expected[i].kind) << "step " << i;
        EXPECT_EQ(step.peer, expected[i].peer) << "step " << i;
        EXPECT_EQ(region, (Region{Buffer::output, expected[i].offset_bytes,
                                  expected[i].length_bytes}))
            << "step " << i;
        EXPECT_EQ(test::waits_of(schedule, i), expected[i].after) << "step " << i;
    }
}

// Catches a segment that goes to one child before the one before it went to all, and a send that
// waits for more than its own segment: both leave the data right and the pipeline slow.
TEST(OverTree, ASegmentGoesToAllChildrenBeforeTheNextAndWaitsOnlyForItself) {
    constexpr StepKind send = StepKind::send, receive = StepKind::receive;
    const Request request{.rank = 2, .size = 8, .length_bytes = 10, .parameters = {.segment_bytes = 4}};
    expect_steps(over_place(request, {7, {3, 1}}),
                 {{receive, 7, 0, 4, {}}, {send, 3, 0, 4, {0}}, {send, 1, 0, 4, {0}},
                  {receive, 7, 4, 4, {}}, {send, 3, 4, 4, {3}}, {send, 1, 4, 4, {3}},
                  {receive, 7, 8, 2, {}}, {send, 3, 8, 2, {6}}, {send, 1, 8, 2, {6}}});
    expect_steps(over_place(request, {-1, {2}}), {{send, 2, 0, 4, {}}, {send, 2, 4, 4, {}}, {send, 2, 8, 2, {}}});
}

TEST(OverTreeDeathTest, ATreeThatDoesNotFitIsABrokenInvariant) {
    const Algorithm& tree = *find_algorithm(Collective::broadcast, "tree");
    EXPECT_DEATH(tree.build({.size = 3}), "without a tree");
    const Tree given{0, {-1, 0}, std::vector<std::vector<int>>{{1}, {}}};
    EXPECT_DEATH(tree.build({.size = 3, .tree = &given}), "its ranks");
    EXPECT_DEATH(tree.build({.size = 2, .root = 1, .tree = &given}), "its root");
}

using Walk = std::vector<TreeVisit>;

/// 2 is above 0 and 4; 0 above 1 and 3.
Tree some_tree() {
    return {.root = 2, .parent = {2, 0, -1, 0, 2}, .children = {{1, 3}, {}, {4, 0}, {}, {}}};
}

TEST(TreeWalk, ReachesTheNearestRanksFirstFromAnyRank) {
    EXPECT_EQ(neighbours_in(some_tree(), 0), (std::vector{2, 1, 3}));
    EXPECT_EQ(nearest_first(some_tree(), 2),
              (Walk{{2, -1, -1, 0}, {4, 4, 2, 1}, {0, 0, 2, 1}, {1, 0, 0, 2}, {3, 0, 0, 2}}));
    EXPECT_EQ(nearest_first(some_tree(), 1),
              (Walk{{1, -1, -1, 0}, {0, 0, 1, 1}, {2, 0, 0, 2}, {3, 0, 0, 2}, {4, 0, 2, 3}}));
}

}  // namespace
}  // namespace mutirao
