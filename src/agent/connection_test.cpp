// One end of a channel whose other end does not read, or takes bytes a few at a time.
#include "agent/mesh.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

namespace mutirao::agent {
namespace {

class Pair : public testing::Test {
  protected:
    Pair() {
        std::array<int, 2> ends{};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
        far = File(ends[1]);
        near = std::make_unique<Connection>(File(ends[0]), Connection::Stage::up,
                                            FrameDecoder({0, 2, 1, {}}), 0);
        near->peer = 1;
    }
    void read_some(std::size_t most) {
        std::vector<std::byte> bytes(most);
        const ssize_t count = recv(far.number(), bytes.data(), bytes.size(), 0);
        if (count > 0) arrived += static_cast<std::size_t>(count);
    }

    File far;
    std::unique_ptr<Connection> near;
    Counters counters;
    std::size_t arrived = 0;
};

TEST_F(Pair, WhatWaitsIsBoundedAndThenItIsBroken) {
    const std::vector<std::byte> payload(60'000);
    std::size_t accepted = 0;
    while (near->send(0, Kind::rounds, payload, counters) && accepted < 100'000'000)
        accepted += payload.size();
    EXPECT_TRUE(near->broken);
    EXPECT_GE(accepted, Connection::most_waiting_bytes - payload.size());
    EXPECT_LT(accepted, 2 * Connection::most_waiting_bytes);
    EXPECT_FALSE(near->send(0, Kind::rounds, {}, counters));
}

TEST_F(Pair, WhatWaitedArrivesWhole) {
    const std::vector<std::byte> payload(50'000);
    constexpr std::size_t frames = 20;
    for (std::size_t i = 0; i < frames; ++i)
        ASSERT_TRUE(near->send(0, Kind::rounds, payload, counters));
    EXPECT_TRUE(near->wants_to_write());
    for (int turns = 0; turns < 10'000 && near->wants_to_write(); ++turns) {
        read_some(7777);
        near->flush(counters);
    }
    while (arrived < counters[Count::tcp_bytes_sent]) read_some(100'000);
    EXPECT_FALSE(near->broken);
    EXPECT_EQ(arrived, frames * (payload.size() + frame_overhead_bytes));
}

}  // namespace
}  // namespace mutirao::agent
