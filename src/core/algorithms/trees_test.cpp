#include "core/algorithms/trees.h"

#include <gtest/gtest.h>

#include "core/schedule/printer.h"

namespace mutirao {
namespace {

// Catches a segment that goes to one child before the one before it went to all, and a send that
// waits for more than its own segment: both leave the data right and the pipeline slow.
TEST(OverTree, ASegmentGoesToAllChildrenBeforeTheNextAndWaitsOnlyForItself) {
    const Request request{.rank = 2, .size = 8, .length_bytes = 10, .parameters = {.segment_bytes = 4}};
    EXPECT_EQ(to_text({over_place(request, {7, {3, 1}})}),
              "rank 0  step 0  receive output[0,4) from 7\n"
              "rank 0  step 1  send output[0,4) to 3  after 0\n"
              "rank 0  step 2  send output[0,4) to 1  after 0\n"
              "rank 0  step 3  receive output[4,8) from 7\n"
              "rank 0  step 4  send output[4,8) to 3  after 3\n"
              "rank 0  step 5  send output[4,8) to 1  after 3\n"
              "rank 0  step 6  receive output[8,10) from 7\n"
              "rank 0  step 7  send output[8,10) to 3  after 6\n"
              "rank 0  step 8  send output[8,10) to 1  after 6\n");
    EXPECT_EQ(to_text({over_place(request, {-1, {2}})}),
              "rank 0  step 0  send output[0,4) to 2\n"
              "rank 0  step 1  send output[4,8) to 2\n"
              "rank 0  step 2  send output[8,10) to 2\n");
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
