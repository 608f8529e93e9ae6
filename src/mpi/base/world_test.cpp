#include "mpi/base/world.h"

#include <gtest/gtest.h>

#include "mpi/base/test_mpi.h"

namespace mutirao::mpi {
namespace {

using test::world_with;

TEST(World, OfMoreHostsThanAreMeasuredIsNative) {
    EXPECT_EQ(world_with(64, 4).native_reason, "");
    EXPECT_EQ(world_with(65, 1).native_reason, "65 hosts, of which more than 64 are not measured yet");
    EXPECT_EQ(world_with(2000, 2).native_reason, "2000 hosts, of which more than 64 are not measured yet");
    EXPECT_FALSE(world_with(2000, 2).at_odds);
}

// Hosts keep their order, so that a tree of the whole's hosts is one of the part's.
TEST(World, OfAPartKeepsTheOrderOfHostsAndWhoMeasuresThem) {
    const World whole = world_with(5, 2);
    const Members part = part_of(whole, {9, 2, 8, 3, 6}, 3);
    EXPECT_EQ(part.rank_count(), 5);
    EXPECT_EQ(part.source_host, (std::vector<int>{1, 3, 4}));
    EXPECT_EQ(part.leader_of(0), 1);
    EXPECT_EQ(part.leader_of(1), 4);
    EXPECT_EQ(part.leader_of(2), 0);
    EXPECT_EQ(part.placement->host_of(0), 2);
    EXPECT_EQ(part.placement->host_of(3), 0);
    EXPECT_EQ(part.my_host(), 0);
    EXPECT_FALSE(part.leads(3));
}

}  // namespace
}  // namespace mutirao::mpi
