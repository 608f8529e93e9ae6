// Which sends a rank need not wait for.
#include "core/schedule/connections.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

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
