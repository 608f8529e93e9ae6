#include "core/spanning_tree/rounds_message.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mutirao::rounds {
namespace {

// Whoever was down in between may have lost messages; how often it was measured is of no interest.
TEST(LinkState, SaysWhetherATreeHasToBeRevised) {
    const LinkState five{1, 2, 5}, again{1, 4, 5}, came_back{2, 1, 5}, six{1, 3, 6};
    EXPECT_TRUE(five.same_for_a_tree(again));
    EXPECT_FALSE(five.same_for_a_tree(came_back));
    EXPECT_FALSE(five.same_for_a_tree(six));
    EXPECT_TRUE((LinkState{3, 0, unusable_us}.same_for_a_tree({4, 0, unusable_us})));
}

Message call_of(std::uint32_t number, int hosts) {
    Message call{.kind = Kind::round, .id = {number, 0, 1}, .base_hash = 7};
    for (int low = 0; low < hosts; ++low)
        for (int high = low + 1; high < hosts; ++high) call.links.push_back({low, high, {0, 1, 5}});
    for (int host = 1; host < hosts; ++host) call.tree.emplace_back(0, host);
    return call;
}

TEST(RoundsParts, FitTheFrameForAThousandHosts) {
    const Message call = call_of(3, 1000);
    const auto pieces = split(call);
    EXPECT_EQ(pieces.size(), 200U);
    Parts parts;
    std::optional<Message> whole;
    for (const Message& piece : pieces) {
        EXPECT_FALSE(whole);
        const auto bytes = encode(piece);
        EXPECT_LE(bytes.size(), most_message_bytes);
        const auto decoded = decode(bytes);
        ASSERT_TRUE(decoded);
        whole = parts.add(*decoded);
    }
    ASSERT_TRUE(whole);
    EXPECT_TRUE(*whole == call);
}

TEST(RoundsParts, ComeInAnyOrderAndMoreThanOnce) {
    const Message call = call_of(3, 120);
    auto pieces = split(call);
    ASSERT_EQ(pieces.size(), 3U);
    std::ranges::reverse(pieces);
    Parts parts;
    EXPECT_FALSE(parts.add(pieces[0]));
    EXPECT_FALSE(parts.add(pieces[0]));
    EXPECT_FALSE(parts.add(pieces[1]));
    const auto whole = parts.add(pieces[2]);
    ASSERT_TRUE(whole);
    EXPECT_TRUE(*whole == call);
}

TEST(RoundsParts, OfALaterRoundDisplaceWhatIsThere) {
    const auto earlier = split(call_of(3, 120));
    const auto later = split(call_of(4, 120));
    Parts parts;
    parts.add(earlier[0]);
    parts.add(later[0]);
    EXPECT_FALSE(parts.add(earlier[1]));
    EXPECT_FALSE(parts.add(earlier[2]));
    EXPECT_FALSE(parts.add(later[1]));
    EXPECT_TRUE(parts.add(later[2]));
}

}  // namespace
}  // namespace mutirao::rounds
