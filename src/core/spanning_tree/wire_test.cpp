// Messages survive the wire, and what is not a message is refused.
#include "core/spanning_tree/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace mutirao::ghs {
namespace {

const Weight link{0.1, 3, 300};

const std::vector<Message> messages = {
    {Kind::connect, 0, {}, State::sleeping, 0},
    {Kind::connect, 30, {}, State::sleeping, 0},
    {Kind::initiate, 1, link, State::find, 0},
    {Kind::initiate, 5, link, State::found, 0},
    {Kind::test, 2, {1e300, 0, std::numeric_limits<int>::max()}, State::sleeping, 0},
    {Kind::accept, 0, {}, State::sleeping, 0},
    {Kind::reject, 0, {}, State::sleeping, 0},
    {Kind::report, 0, link, State::sleeping, 1},
    {Kind::report, 0, Weight::infinite(), State::sleeping, 10000},
    {Kind::change_root, 0, {}, State::sleeping, 0},
    {Kind::finish, 0, {}, State::sleeping, 2},
};

TEST(Wire, CarriesEveryKind) {
    for (const Message& message : messages) {
        const auto decoded = decode(encode(message));
        ASSERT_TRUE(decoded) << static_cast<int>(message.kind);
        EXPECT_EQ(*decoded, message);
    }
}

TEST(Wire, IsLittleEndianOnEveryMachine) {
    const auto bytes = encode({Kind::test, 2, {1.0, 3, 260}, State::sleeping, 0});
    const std::vector<int> expected = {2, 0, 2, 0, 0, 0, 0, 0, 0, 0,  // kind, state, level, hosts
                                       0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // 1.0
                                       3, 0, 0, 0, 4, 1, 0, 0};
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(Wire, RefusesWhatNoHostSends) {
    constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const std::vector<Message> wrong = {
        {Kind::connect, -1, {}, State::sleeping, 0},
        {Kind::connect, 31, {}, State::sleeping, 0},
        {Kind::connect, 0, link, State::sleeping, 0},
        {Kind::initiate, 0, link, State::find, 0},
        {Kind::initiate, 1, link, State::sleeping, 0},
        {Kind::initiate, 1, Weight::infinite(), State::find, 0},
        {Kind::test, 1, {not_a_number, 0, 1}, State::sleeping, 0},
        {Kind::test, 1, {infinite, 0, 1}, State::sleeping, 0},
        {Kind::test, 1, {1, 1, 1}, State::sleeping, 0},
        {Kind::test, 1, {1, -1, 1}, State::sleeping, 0},
        {Kind::test, 1, link, State::find, 0},
        {Kind::accept, 1, {}, State::sleeping, 0},
        {Kind::report, 0, link, State::sleeping, 0},
        {Kind::report, 0, {}, State::sleeping, 1},
        {Kind::finish, 0, {}, State::sleeping, 1},
        {static_cast<Kind>(8), 0, {}, State::sleeping, 0},
        {Kind::accept, 0, {}, static_cast<State>(3), 0},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_FALSE(decode(encode(wrong[i]))) << i;
    const auto bytes = encode(messages.front());
    EXPECT_FALSE(decode(std::span(bytes).first(wire_bytes - 1)));
    EXPECT_FALSE(decode({}));
    std::vector<std::byte> longer(bytes.begin(), bytes.end());
    longer.push_back({});
    EXPECT_FALSE(decode(longer));
}

// One encoding per message: whatever is accepted encodes to the very bytes that came.
TEST(Wire, AcceptsOnlyItsOwnEncodings) {
    std::mt19937 random(7);
    int accepted = 0;
    for (int round = 0; round < 200'000; ++round) {
        auto bytes = encode(messages[random() % messages.size()]);
        for (std::uint32_t flips = random() % 4; flips > 0; --flips)
            bytes[random() % wire_bytes] ^= static_cast<std::byte>(1U << random() % 8);
        const auto decoded = decode(bytes);
        if (!decoded) continue;
        ++accepted;
        EXPECT_TRUE(encode(*decoded) == bytes);
    }
    EXPECT_GT(accepted, 50'000);
}

}  // namespace
}  // namespace mutirao::ghs
