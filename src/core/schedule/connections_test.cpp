// Against deliveries over TCP that were timed: 175 ms one way, cubic, one connection.
#include "core/schedule/connections.h"

#include <gtest/gtest.h>

#include "core/schedule/predictor.h"
#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

constexpr double ms = 1000, one_way_us = 175 * ms, round_trip_us = 2 * one_way_us;
constexpr std::size_t initial_window_bytes = Transport::ten_packets_bytes, mib = std::size_t{1} << 20;

TEST(Connections, DeliverAMebibyteAsTimed) {
    Connections connections(2, 2);
    connections.connect_round_trips = 1;  // bare sockets
    LivingStream& stream = connections.streams[connections.index(0, 1)];
    const double connected_us = connections.connected_by(0, 1, 0, round_trip_us);
    const double first_us = stream.send(mib, connected_us, round_trip_us, initial_window_bytes) + one_way_us;
    EXPECT_NEAR(first_us, 2627 * ms, 10 * ms);

    const double later_us = first_us - one_way_us + 1000 * ms;
    EXPECT_EQ(connections.connected_by(1, 0, later_us, round_trip_us), later_us);
    const double again_us = stream.send(mib, later_us, round_trip_us, initial_window_bytes) + one_way_us - later_us;
    EXPECT_NEAR(again_us, 525 * ms, 10 * ms);
}

TEST(Connections, OpenOnlyAsFarAsTheyAreUsed) {
    LivingStream stream;
    double now_us = 0;
    for (int i = 0; i < 20; ++i)
        now_us = stream.send(1000, now_us, round_trip_us, initial_window_bytes) + round_trip_us;
    const double left_us = stream.send(4 * initial_window_bytes, now_us, round_trip_us, initial_window_bytes);
    EXPECT_GE(left_us - now_us, round_trip_us);
}

TEST(Connections, RanksEnterAtTheirOwnTimes) {
    Network network(2);
    network.set_both(0, 1, {.latency_us = 100});
    const std::vector<Schedule> schedules = testing::binomial_broadcast(2, 100);
    const auto done_us = [&](double root_us, double other_us) {
        return predict(schedules, network, {.start_us = {root_us, other_us}}).rank_complete_us;
    };
    EXPECT_EQ(done_us(0, 0), predict(schedules, network).rank_complete_us);
    EXPECT_EQ(done_us(1000, 0), (std::vector<double>{1000, 1100}));
    EXPECT_EQ(done_us(0, 1000), (std::vector<double>{0, 1000}));
}

Region bytes(std::size_t length) { return {Buffer::output, 0, length}; }

Schedule sends(std::initializer_list<std::pair<int, std::size_t>> peers_and_lengths) {
    Schedule schedule;
    for (const auto& [peer, length] : peers_and_lengths) schedule.send(peer, bytes(length));
    return schedule;
}

constexpr Transport transport{1000, 10, 100};

// Rank 0 shares its host with rank 3.
std::vector<bool> detached(const Schedule& schedule, const Transport& over = transport) {
    return detached_sends(schedule, over, Placement({0, 1, 2, 0}), 0);
}

TEST(DetachedSends, AreTheLastOfEachPeerUpToTheLimit) {
    const Schedule schedule = sends({{1, 50}, {2, 90}, {1, 40}, {1, 60}});
    EXPECT_EQ(detached(schedule), (std::vector<bool>{false, true, true, true}));
}

// Fault: taking short sends before a long one that is waited for.
TEST(DetachedSends, HaveNothingToWaitForAfterThem) {
    const Schedule schedule = sends({{1, 20}, {1, 101}, {1, 20}});
    EXPECT_EQ(detached(schedule), (std::vector<bool>{false, false, true}));
}

TEST(DetachedSends, AreOnlyThoseThatAreAcknowledgedAndEager) {
    EXPECT_EQ(detached(sends({{1, 10}})), std::vector<bool>{false});
    EXPECT_EQ(detached(sends({{1, 50}}), {40, 10, 100}), std::vector<bool>{false});
    EXPECT_EQ(detached(sends({{1, 50}}), {1000, 10, 0}), std::vector<bool>{false});
    EXPECT_EQ(detached(sends({{1, 50}}), Transport{}), std::vector<bool>{false});
}

// Fault: counting on shared memory to take what the kernel's socket would.
TEST(DetachedSends, GoToOtherHosts) {
    const Schedule schedule = sends({{1, 50}, {3, 50}, {2, 50}});
    EXPECT_EQ(detached(schedule), (std::vector<bool>{true, false, true}));
}

TEST(DetachedSends, AreNeverReceives) {
    Schedule schedule;
    schedule.receive(1, bytes(50));
    EXPECT_EQ(detached(schedule), std::vector<bool>{false});
}

}  // namespace
}  // namespace mutirao
