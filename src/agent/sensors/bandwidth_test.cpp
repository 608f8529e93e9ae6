// Trains between hosts in memory, over a made-up link: how near the estimate comes to its bandwidth.
#include "agent/sensors/bandwidth.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "agent/system.h"

namespace mutirao::agent {
namespace {

using Output = BandwidthSensor::Output;

/// What a link does to a train besides being narrow.
struct Link {
    double bytes_per_us = 1;
    double one_way_us = 0;
    int burst = 0;        ///< packets that pass before it limits
    int stamps = 1;       ///< packets that the receiver's kernel stamps together
    double jitter_us = 0; ///< of the stamps
    int queue = 1000;     ///< packets that find room; the others are lost
    double pause_us = 0;  ///< after 15, 30 and 60 packets of a train
    int slow_trains = 0;  ///< first ones, which their sender sends fifty times as slowly, each slower than the one before
};

/// Two hosts, each of which sends the other its frames; trains leave at once.
class Pair {
  public:
    explicit Pair(Link link) : link_(link) {}

    BandwidthSensor asks, answers;
    std::size_t packets = 0;
    std::size_t bytes = 0;

    std::optional<BandwidthSensor::Ended> measure() {
        send(asks.measure(1, now_ns_));
        while (!under_way_.empty() || answers.next_ns() != never_ns) {
            if (under_way_.empty()) {
                now_ns_ = answers.next_ns();
                for (const auto& item : answers.advance(now_ns_)) send(asks.on_result(1, item.payload, now_ns_));
                continue;
            }
            const auto [time_ns, item] = *under_way_.begin();
            under_way_.erase(under_way_.begin());
            now_ns_ = time_ns;
            BandwidthSensor& at = item.to == 1 ? answers : asks;
            const int from = 1 - item.to;
            send(item.kind == Kind::bandwidth_data ? at.on_datagram(from, item.payload, time_ns)
                                                   : at.on_result(from, item.payload, time_ns));
        }
        while (asks.next_ns() != never_ns) asks.advance(asks.next_ns());
        return asks.take_ended();
    }

  private:
    void send(const Output& output) {
        double packet_us = packet_bytes / link_.bytes_per_us;
        if (!output.empty() && output.front().kind == Kind::bandwidth_data && trains_++ < link_.slow_trains)
            packet_us *= 50 * trains_;
        std::uniform_real_distribution<double> jitter(0, link_.jitter_us);
        double stamp_us = 0;
        int number = 0;
        for (const auto& each : output) {
            double delay_us = link_.one_way_us;
            if (each.kind == Kind::bandwidth_data) {
                ++packets;
                bytes += each.payload.size();
                if (number >= link_.queue) continue;
                if (number % link_.stamps == 0)
                    stamp_us = std::max(number + link_.stamps - 1 - link_.burst, 0) * packet_us;
                delay_us += stamp_us + jitter(random_) + number * 0.001;
                for (const int after : {15, 30, 60}) delay_us += number >= after ? link_.pause_us : 0;
                ++number;
            }
            under_way_.emplace(now_ns_ + static_cast<std::int64_t>(delay_us * ns_per_us), each);
        }
    }

    static constexpr double packet_bytes = 1200 + frame_overhead_bytes + 28;
    Link link_;
    std::int64_t now_ns_ = 0;
    std::multimap<std::int64_t, BandwidthSensor::Outgoing> under_way_;
    std::mt19937 random_{1};
    int trains_ = 0;
};

// 1 to 100 Mbit/s at 5 to 100 ms, with what kernels and limiters do to packets.
TEST(Bandwidth, IsFoundToAQuarterWhateverTheLatency) {
    for (const double mbit : {1.0, 5.0, 20.0, 100.0}) {
        for (const double one_way_us : {2'500.0, 10'000.0, 50'000.0}) {
            for (const Link& link : {Link{}, Link{.burst = 4}, Link{.stamps = 4},
                                     Link{.jitter_us = 50}}) {
                Link shaped = link;
                shaped.bytes_per_us = mbit / 8;
                shaped.one_way_us = one_way_us;
                Pair pair(shaped);
                const auto ended = pair.measure();
                ASSERT_TRUE(ended && ended->bytes_per_us) << mbit;
                // Of a short train, stamps of four are three steps of a staircase.
                const double share = link.stamps > 1 ? 0.25 : 0.08;
                EXPECT_NEAR(*ended->bytes_per_us * 8, mbit, share * mbit)
                    << one_way_us << " us, burst " << link.burst << ", stamps " << link.stamps;
                EXPECT_LE(pair.bytes, 256U * 1024);
            }
        }
    }
}

// A host that computes has no processor for milliseconds: links of 125 bytes a us were read as 2 to 20.
TEST(Bandwidth, IsNotThatOfAHostThatPauses) {
    for (const double bytes_per_us : {2.5, 12.5, 125.0}) {
        Pair pair({.bytes_per_us = bytes_per_us, .one_way_us = 5000, .pause_us = 10'000});
        const auto ended = pair.measure();
        ASSERT_TRUE(ended && ended->bytes_per_us);
        EXPECT_NEAR(*ended->bytes_per_us, bytes_per_us, 0.05 * bytes_per_us);
    }
    for (const int slow_trains : {1, 2, 3, 4}) {
        Pair pair({.bytes_per_us = 125, .one_way_us = 5000, .slow_trains = slow_trains});
        EXPECT_NEAR(pair.measure()->bytes_per_us.value(), 125, 6) << slow_trains;
    }
}

TEST(Bandwidth, ASlowLinkIsKeptBusyForAShortTimeOnly) {
    Pair pair({.bytes_per_us = 0.125});
    ASSERT_TRUE(pair.measure()->bytes_per_us);
    EXPECT_LE(pair.packets, 24U);
}

// The last packets find no room: the train has ended all the same, and what came counts.
TEST(Bandwidth, ATrainMayLoseItsEnd) {
    Pair pair({.bytes_per_us = 12.5, .one_way_us = 5000, .queue = 30});
    const auto ended = pair.measure();
    ASSERT_TRUE(ended && ended->bytes_per_us);
    EXPECT_NEAR(*ended->bytes_per_us, 12.5, 3);
}

TEST(Bandwidth, WhereNoDatagramArrivesNothingIsMeasured) {
    Pair pair({.queue = 0});
    const auto ended = pair.measure();
    ASSERT_TRUE(ended);
    EXPECT_FALSE(ended->bytes_per_us);
    EXPECT_FALSE(ended->refused);
    EXPECT_FALSE(pair.asks.busy() || pair.answers.busy());
}

// Fails if a host takes part in two measurements at once.
TEST(Bandwidth, WhoIsBusyRefusesAndDoesNotMeasure) {
    BandwidthSensor first, second, third;
    const Output train = first.measure(1, 0);
    second.on_datagram(0, train[0].payload, 0);
    EXPECT_TRUE(second.measure(2, 0).empty());
    const Output refusal = second.on_datagram(2, third.measure(1, 0)[0].payload, 0);
    ASSERT_EQ(refusal.size(), 1U);
    EXPECT_EQ(refusal[0].to, 2);
    EXPECT_TRUE(third.on_result(1, refusal[0].payload, 0).empty());
    EXPECT_TRUE(third.take_ended()->refused);
    EXPECT_FALSE(third.measure(1, 0).empty());
    EXPECT_EQ(first.on_datagram(2, train[0].payload, 0).size(), 1U);
}

TEST(Bandwidth, APartnerThatIsLostOrSilentIsGivenUp) {
    BandwidthSensor first;
    first.measure(1, 0);
    EXPECT_TRUE(first.measure(2, ns_per_s).empty());
    first.lost(1);
    EXPECT_FALSE(first.measure(2, ns_per_s).empty());
    first.advance(first.next_ns());
    EXPECT_FALSE(first.busy());
    EXPECT_EQ(first.take_ended()->peer, 2);
}

// Late packets and results: of a train that was reported already, and of one before.
TEST(Bandwidth, WhatIsOutOfPlaceIsIgnored) {
    BandwidthSensor sends, receives;
    const Output train = sends.measure(1, 0);
    EXPECT_TRUE(receives.on_datagram(0, train[1].payload, 0).empty());
    EXPECT_FALSE(receives.busy());
    receives.on_datagram(0, train.front().payload, 0);
    const Output report = receives.on_datagram(0, train.back().payload, 0);
    ASSERT_EQ(report.size(), 1U);
    EXPECT_TRUE(receives.on_datagram(0, train[1].payload, 0).empty());
    EXPECT_TRUE(receives.on_result(0, report[0].payload, 0).empty());
    EXPECT_TRUE(sends.on_result(2, report[0].payload, 0).empty());
    EXPECT_TRUE(sends.on_datagram(1, std::vector<std::byte>(1200), 0).empty());
    EXPECT_FALSE(sends.take_ended());
}

}  // namespace
}  // namespace mutirao::agent
