// Bursts between hosts in memory, with made-up times.
#include "agent/sensors/bandwidth.h"

#include <gtest/gtest.h>

#include "agent/clock.h"

namespace mutirao::agent {
namespace {

using Output = BandwidthSensor::Output;

Output deliver(BandwidthSensor& to, int from, const BandwidthSensor::Outgoing& frame,
               std::int64_t now_ns) {
    return to.on(from, {{frame.kind, from, frame.to, 1, 1}, frame.payload}, now_ns);
}

TEST(Bandwidth, ABurstIsTimedByWhoReceivesIt) {
    BandwidthSensor first(3), second(3);
    const Output ask = first.ask(1, 0);
    ASSERT_EQ(ask.size(), 1U);
    const Output answer = deliver(second, 0, ask[0], 0);
    ASSERT_EQ(answer.size(), 1U);
    const Output burst = deliver(first, 1, answer[0], 0);
    std::size_t bytes = 0;
    Output result;
    // A piece every 100 us.
    for (std::size_t i = 0; i < burst.size(); ++i) {
        bytes += burst[i].payload.size() + frame_overhead_bytes;
        const auto now_ns = static_cast<std::int64_t>(i) * 100 * ns_per_us;
        result = deliver(second, 0, burst[i], now_ns);
    }
    EXPECT_LE(bytes, 64U * 1024);
    ASSERT_EQ(result.size(), 1U);
    EXPECT_TRUE(deliver(first, 1, result[0], 0).empty());
    const double piece_bytes = static_cast<double>(bytes) / static_cast<double>(burst.size());
    EXPECT_FALSE(first.take_result(2));
    EXPECT_DOUBLE_EQ(first.take_result(1).value_or(0), piece_bytes / 100);
    EXPECT_FALSE(first.take_result(1));
    EXPECT_DOUBLE_EQ(first.forecast(1)->value, piece_bytes / 100);
}

// Fails if a host takes part in two bursts at once.
TEST(Bandwidth, WhoIsBusyRefusesAndDoesNotAsk) {
    BandwidthSensor first(3), second(3), third(3);
    const Output ask = first.ask(1, 0);
    deliver(second, 0, ask[0], 0);
    EXPECT_TRUE(second.ask(2, 0).empty());
    const Output refusal = deliver(second, 2, third.ask(1, 0)[0], 0);
    EXPECT_TRUE(deliver(third, 1, refusal[0], 0).empty());
    EXPECT_FALSE(third.ask(1, 0).empty());
    EXPECT_FALSE(deliver(first, 2, {0, Kind::bandwidth_ask, {}}, 0)[0].payload[0] ==
                 std::byte{1});
}

TEST(Bandwidth, APartnerThatIsLostOrSilentIsGivenUp) {
    BandwidthSensor first(3);
    first.ask(1, 0);
    EXPECT_TRUE(first.ask(2, ns_per_s).empty());
    first.lost(1);
    EXPECT_FALSE(first.ask(2, ns_per_s).empty());
    EXPECT_FALSE(first.ask(1, 100 * ns_per_s).empty());
}

TEST(Bandwidth, WhatIsOutOfPlaceIsIgnored) {
    BandwidthSensor sensor(3);
    for (const Kind kind : {Kind::bandwidth_answer, Kind::bandwidth_data, Kind::bandwidth_result})
        EXPECT_TRUE(deliver(sensor, 1, {0, kind, std::vector<std::byte>(8)}, 0).empty());
    EXPECT_FALSE(sensor.take_result(1));
}

}  // namespace
}  // namespace mutirao::agent
