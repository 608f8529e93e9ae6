#include "core/network/placement.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

std::vector<int> ranks_of(const Placement& placement, int host) {
    const auto ranks = placement.ranks_of(host);
    return {ranks.begin(), ranks.end()};
}

TEST(Placement, KnowsTheRanksOfEachHostAscending) {
    const Placement placement({1, 0, 1, 2, 0, 1});
    EXPECT_EQ(placement.rank_count(), 6);
    EXPECT_EQ(placement.host_count(), 3);
    EXPECT_EQ(ranks_of(placement, 0), (std::vector<int>{1, 4}));
    EXPECT_EQ(ranks_of(placement, 1), (std::vector<int>{0, 2, 5}));
    EXPECT_EQ(ranks_of(placement, 2), (std::vector<int>{3}));
    EXPECT_EQ(placement.most_ranks_on_a_host(), 3);
    for (int rank = 0; rank < 6; ++rank) {
        const auto beside = placement.ranks_of(placement.host_of(rank));
        EXPECT_EQ(beside[static_cast<std::size_t>(placement.position_of(rank))], rank);
    }
}

TEST(PlacementDeathTest, RefusesAHostWithoutRanks) {
    EXPECT_DEATH(Placement({0, 2}), "a host has no rank .*1 against 3");
    EXPECT_DEATH(Placement({0, -1}), "negative .*-1 against 2");
}

}  // namespace
}  // namespace mutirao
