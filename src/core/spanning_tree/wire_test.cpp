// Messages survive the wire, and what is not a message is refused.
#include "core/spanning_tree/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/spanning_tree/test_wire.h"

namespace mutirao::ghs {
namespace {

const Weight link{0.1, 3, 300};

const HostSet few{0, 3};
const HostSet many{0, 63, 64, 199};

const std::vector<Message> messages = {
    {Kind::connect, 0, {}, State::sleeping, 0, {7}},
    {Kind::connect, 30, {}, State::sleeping, 0, many},
    {Kind::initiate, 1, link, State::find, 0, few},
    {Kind::initiate, 5, link, State::found, 0, many},
    {Kind::test, 2, {1e300, 0, std::numeric_limits<int>::max()}, State::sleeping, 0, {}},
    {Kind::accept, 0, {}, State::sleeping, 0, {}},
    {Kind::reject, 0, {}, State::sleeping, 0, few},
    {Kind::report, 0, link, State::sleeping, 0, few},
    {Kind::report, 0, {0.1, 3, 300, true}, State::sleeping, 0, few},
    {Kind::report, 0, Weight::infinite(), State::sleeping, 0, {HostSet::most_hosts - 1}},
    {Kind::change_root, 0, {}, State::sleeping, 0, few},
    {Kind::finish, 0, {}, State::sleeping, 2, {}},
};

TEST(Wire, CarriesEveryKind) {
    for (const Message& message : messages) {
        const auto decoded = decode(encode(message));
        ASSERT_TRUE(decoded) << static_cast<int>(message.kind);
        EXPECT_EQ(*decoded, message);
    }
}

TEST(Wire, IsLittleEndianOnEveryMachine) {
    const auto bytes = encode({Kind::initiate, 2, {1.0, 3, 260}, State::find, 0, {1, 10, 64}});
    const std::vector<int> expected = {1, 1, 2, 0, 0, 0, 0, 0, 0, 0,  // kind, state, level, hosts
                                       0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // 1.0
                                       3, 0, 0, 0, 4, 1, 0, 0,        // ends
                                       0,                             // last resort
                                       2, 0,                          // words of members
                                       2, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(Wire, RefusesWhatNoHostSends) {
    constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const std::vector<Message> wrong = {
        {Kind::connect, -1, {}, State::sleeping, 0, few},
        {Kind::connect, 31, {}, State::sleeping, 0, few},
        {Kind::connect, 0, link, State::sleeping, 0, few},
        {Kind::connect, 0, {}, State::sleeping, 0, {}},
        {Kind::initiate, 0, link, State::find, 0, few},
        {Kind::initiate, 1, link, State::sleeping, 0, few},
        {Kind::initiate, 1, Weight::infinite(), State::find, 0, few},
        {Kind::test, 1, {not_a_number, 0, 1}, State::sleeping, 0, {}},
        {Kind::test, 1, {infinite, 0, 1}, State::sleeping, 0, {}},
        {Kind::test, 1, {1, 1, 1}, State::sleeping, 0, {}},
        {Kind::test, 1, {1, -1, 1}, State::sleeping, 0, {}},
        {Kind::test, 1, link, State::find, 0, {}},
        {Kind::test, 1, link, State::sleeping, 0, few},
        {Kind::accept, 1, {}, State::sleeping, 0, {}},
        {Kind::report, 0, link, State::sleeping, 0, {}},
        {Kind::report, 0, link, State::sleeping, 1, few},
        {Kind::report, 0, {}, State::sleeping, 0, few},
        {Kind::finish, 0, {}, State::sleeping, 1, {}},
        {static_cast<Kind>(8), 0, {}, State::sleeping, 0, {}},
        {Kind::accept, 0, {}, static_cast<State>(3), 0, {}},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_FALSE(decode(encode(wrong[i]))) << i;
}

TEST(Wire, RefusesWrongLengths) {
    EXPECT_FALSE(decode({}));
    for (const Message& message : messages) {
        std::vector<std::byte> bytes = encode(message);
        for (std::size_t shorter = 0; shorter < std::min<std::size_t>(bytes.size(), 100); ++shorter)
            EXPECT_FALSE(decode(std::span(bytes).first(shorter)));
        for (int longer = 0; longer < 16; ++longer) {
            bytes.push_back({});
            EXPECT_FALSE(decode(bytes));
        }
    }
}

// Sets with a last word of zero would be second encodings, and ever larger ones cost memory.
TEST(Wire, RefusesSetsThatNoHostMakes) {
    const auto with_words = [](std::size_t count, bool last_is_zero) {
        std::vector<std::byte> bytes = encode(messages.front());
        bytes.resize(head_bytes - 2);
        bytes.push_back(static_cast<std::byte>(count % 256));
        bytes.push_back(static_cast<std::byte>(count / 256));
        bytes.resize(head_bytes + 8 * count, std::byte{1});
        if (last_is_zero) std::fill(bytes.end() - 8, bytes.end(), std::byte{0});
        return decode(bytes);
    };
    constexpr std::size_t most_words = HostSet::most_hosts / HostSet::word_bits;
    EXPECT_TRUE(with_words(2, false));
    EXPECT_FALSE(with_words(2, true));
    EXPECT_TRUE(with_words(most_words, false));
    EXPECT_FALSE(with_words(most_words + 1, false));
}

TEST(Wire, AcceptsOnlyItsOwnEncodings) {
    test::expect_only_own_encodings(messages, decode, 200'000, 50'000);
}

}  // namespace
}  // namespace mutirao::ghs
