#include "mpi/job/world.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

World world_with(int hosts, int ranks_per_host) {
    std::vector<Introduction> all(static_cast<std::size_t>(hosts * ranks_per_host));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank].host_identity = rank / static_cast<std::size_t>(ranks_per_host);
        all[rank].enabled = 1;
    }
    return world_of(all, 0);
}

TEST(World, OfMoreHostsThanAreMeasuredIsNative) {
    EXPECT_EQ(world_with(64, 4).native_reason, "");
    EXPECT_EQ(world_with(65, 1).native_reason, "65 hosts, of which more than 64 are not measured yet");
    EXPECT_EQ(world_with(2000, 2).native_reason, "2000 hosts, of which more than 64 are not measured yet");
    EXPECT_FALSE(world_with(2000, 2).at_odds);
}

}  // namespace
}  // namespace mutirao::mpi
