// Which sends a rank need not wait for.
#include "core/schedule/connections.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

// By rank 0, which shares its host with rank 3.
TEST(DetachedSends, AreTheLastShortOnesToEachPeerOnAnotherHost) {
    constexpr Transport transport{1000, 10, 100};
    const struct {
        const char* why;
        std::vector<std::pair<int, std::size_t>> peers_and_lengths;
        std::vector<bool> detached;
        Transport over = transport;
    } cases[] = {
        {"up to the limit of each peer", {{1, 50}, {2, 90}, {1, 40}, {1, 60}}, {false, true, true, true}},
        {"none before one that is waited for", {{1, 20}, {1, 101}, {1, 20}}, {false, false, true}},
        {"what is not acknowledged is over at once", {{1, 10}}, {false}},
        {"what asks for consent waits", {{1, 50}}, {false}, {40, 10, 100}},
        {"where none may be", {{1, 50}}, {false}, {1000, 10, 0}},
        {"where nothing is acknowledged", {{1, 50}}, {false}, {}},
        {"shared memory takes no more than it has room for", {{1, 50}, {3, 50}, {2, 50}}, {true, false, true}},
    };
    for (const auto& [why, peers_and_lengths, detached, over] : cases) {
        Schedule schedule;
        for (const auto& [peer, length] : peers_and_lengths) schedule.send(peer, {Buffer::output, 0, length});
        EXPECT_EQ(detached_sends(schedule, over, Placement({0, 1, 2, 0}), 0), detached) << why;
    }
    Schedule receives;
    receives.receive(1, {Buffer::output, 0, 50});
    EXPECT_EQ(detached_sends(receives, transport, Placement({0, 1, 2, 0}), 0), std::vector<bool>{false});
}

}  // namespace
}  // namespace mutirao
