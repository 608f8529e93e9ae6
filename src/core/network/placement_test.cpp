#include "core/network/placement.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

TEST(PlacementDeathTest, RefusesAHostWithoutRanks) {
    EXPECT_DEATH(Placement({0, 2}), "a host has no rank .*1 against 3");
    EXPECT_DEATH(Placement({0, -1}), "negative .*-1 against 2");
}

}  // namespace
}  // namespace mutirao
