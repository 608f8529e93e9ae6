#include "core/algorithms/tree_walk.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

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

TEST(TreeWalk, LeavesOutWhatLiesBeyondABarredNeighbour) {
    EXPECT_EQ(nearest_first(some_tree(), 0, 2), (Walk{{0, -1, -1, 0}, {1, 1, 0, 1}, {3, 3, 0, 1}}));
}

// What lets both ends of an edge match their messages.
TEST(TreeWalk, HasABranchInTheOrderOfTheWalkThatBeginsThere) {
    const Tree tree = some_tree();
    for (int from = 0; from < tree.size(); ++from) {
        for (const int branch : neighbours_in(tree, from)) {
            std::vector<int> here;
            for (const TreeVisit& visit : nearest_first(tree, from)) {
                if (visit.branch == branch) here.push_back(visit.rank);
            }
            std::vector<int> there;
            for (const TreeVisit& visit : nearest_first(tree, branch, from)) {
                there.push_back(visit.rank);
            }
            EXPECT_EQ(here, there) << from << " by " << branch;
        }
    }
}

}  // namespace
}  // namespace mutirao
