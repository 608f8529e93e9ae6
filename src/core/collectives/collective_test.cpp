#include "core/collectives/collective.h"
#include "core/schedule/checker.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

TEST(Collective, IsFoundByItsNameOnly) {
    for (const CollectiveRow& row : collectives) {
        EXPECT_EQ(collective_from(row.name), row.collective);
        EXPECT_EQ(to_string(row.collective), row.name);
    }
    EXPECT_EQ(to_string(Collective::broadcast), "broadcast");
    EXPECT_EQ(collective_from("Broadcast"), std::nullopt);
    EXPECT_EQ(collective_from(""), std::nullopt);
}

TEST(Promise, OfABroadcastBringsTheRootsBytesToAll) {
    const Promise promised = promises::broadcast({.root = 2, .length_bytes = 7}, 4);
    const Region whole{Buffer::output, 0, 7};
    for (std::size_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(promised.before[rank].size(), rank == 2 ? 1u : 0u);
        ASSERT_EQ(promised.after[rank].size(), 1u);
        EXPECT_EQ(promised.after[rank][0].region, whole);
        EXPECT_EQ(promised.after[rank][0].ranks, std::vector<int>{2});
        EXPECT_EQ(promised.after[rank][0].source_offset_bytes, 0u);
    }
}

}  // namespace
}  // namespace mutirao
