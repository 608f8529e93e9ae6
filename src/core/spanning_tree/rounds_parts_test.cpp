#include "core/spanning_tree/rounds_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/spanning_tree/wire.h"

namespace mutirao::rounds {
namespace {

Message call_of(std::uint32_t number, int hosts) {
    Message call = message_of(Kind::round);
    call.id = {number, 0, 1};
    call.base_hash = 7;
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

TEST(RoundsParts, ShortMessagesAreOnePiece) {
    const Message call = call_of(3, 24);
    ASSERT_EQ(split(call).size(), 1U);
    EXPECT_EQ(split(call)[0], call);
    EXPECT_EQ(split(message_of(Kind::version)).size(), 1U);
}

}  // namespace
}  // namespace mutirao::rounds
