#include "agent/news_batches.h"

#include <gtest/gtest.h>

namespace mutirao::agent {
namespace {

rounds::Message news(int low, int high, std::uint32_t sequence, double latency_us) {
    rounds::Message message{.kind = rounds::Kind::news};
    message.links = {{low, high, {0, sequence, latency_us}}};
    return message;
}

TEST(NewsBatches, TravelTogetherInOrderAndTheNewestOfALinkCounts) {
    NewsBatches batches(3);
    EXPECT_EQ(batches.next_ns(), never_ns);
    batches.add(2, news(1, 2, 1, 5), 100);
    batches.add(2, news(0, 1, 2, 7), 200);
    batches.add(2, news(0, 1, 1, 6), 300);
    batches.add(1, news(0, 2, 1, 8), 300);
    EXPECT_EQ(batches.next_ns(), 100 + NewsBatches::longest_wait_ns);
    const auto sent = batches.take(2);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].links, (std::vector<rounds::LinkNews>{{0, 1, {0, 2, 7}}, {1, 2, {0, 1, 5}}}));
    EXPECT_TRUE(batches.take(2).empty());
    EXPECT_EQ(batches.take(1).size(), 1U);
    batches.rest();
    EXPECT_EQ(batches.next_ns(), never_ns);
}

}  // namespace
}  // namespace mutirao::agent
