#include "mpi/watch/one_host.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

TEST(OneHost, IsMeasuredOnceAndIsNoNewsAgain) {
    OneHost source;
    const auto view = source.newer_than(0);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->host_count, 1);
    EXPECT_EQ(view->unknown_links, 0);
    EXPECT_EQ(view->latency_us, std::vector<double>{0.0});
    ASSERT_EQ(view->host_speeds.size(), 1u);
    EXPECT_FALSE(source.newer_than(view->changes)) << "deciders would decide anew at every look";
    const auto again = source.newer_than(0);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->changes, view->changes);
}

}  // namespace
}  // namespace mutirao::mpi
