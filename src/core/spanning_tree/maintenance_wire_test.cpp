// Messages of a round survive the wire, and what is not a message is refused.
#include "core/spanning_tree/maintenance_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/spanning_tree/test_wire.h"

namespace mutirao::maintenance {
namespace {

const std::vector<Weight> links = {{0.5, 0, 3}, {1e300, 0, 4}, {0, 7, HostSet::most_hosts - 1}};
const ghs::Message merging = {ghs::Kind::report, 0, {0.1, 3, 300, true}, ghs::State::sleeping, 0,
                              {0, 3}};

const std::vector<Message> messages = {
    {Kind::merge, merging, 0, {}},
    {Kind::merge, {ghs::Kind::finish, 0, {}, ghs::State::sleeping, 2, {}}, 0, {}},
    {Kind::not_fail, {}, 1, {}},
    {Kind::not_fail_ack, {}, 7, links},
    {Kind::gosleep_fail, {}, 0, links},
    {Kind::not_rec, {}, std::numeric_limits<std::uint32_t>::max(), {}},
    {Kind::not_rec_ack, {}, 1, {}},
    {Kind::not_rec_ack, {}, 1, links},
    {Kind::gosleep_rec, {}, 0, {{2, 0, 1}}},
};

TEST(MaintenanceWire, CarriesEveryKind) {
    for (const Message& message : messages) {
        const auto decoded = decode(encode(message));
        ASSERT_TRUE(decoded) << static_cast<int>(message.kind);
        EXPECT_EQ(*decoded, message);
    }
}

TEST(MaintenanceWire, IsLittleEndianOnEveryMachine) {
    const auto bytes = encode({Kind::not_fail_ack, {}, 258, {{1.0, 3, 260}}});
    const std::vector<int> expected = {2, 2, 1, 0, 0,                 // kind, tag
                                       1, 0,                          // links
                                       0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // 1.0
                                       3, 0, 0, 0, 4, 1, 0, 0};       // ends
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(MaintenanceWire, RefusesWhatNoHostSends) {
    constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const std::vector<Message> wrong = {
        {Kind::merge, merging, 1, {}},
        {Kind::merge, {ghs::Kind::test, 0, {}, ghs::State::sleeping, 0, {}}, 0, {}},
        {Kind::not_fail, {}, 0, {}},
        {Kind::not_fail, {}, 1, links},
        {Kind::not_fail_ack, {}, 1, {}},
        {Kind::not_fail_ack, {}, 0, links},
        {Kind::gosleep_fail, {}, 1, links},
        {Kind::gosleep_fail, {}, 0, {}},
        {Kind::not_rec_ack, {}, 0, {}},
        {Kind::gosleep_rec, {}, 0, {}},
        {Kind::gosleep_rec, {}, 0, {{not_a_number, 0, 1}}},
        {Kind::gosleep_rec, {}, 0, {{infinite, 0, 1}}},
        {Kind::gosleep_rec, {}, 0, {{1, 1, 1}}},
        {Kind::gosleep_rec, {}, 0, {{1, -1, 1}}},
        {Kind::gosleep_rec, {}, 0, {{1, 0, HostSet::most_hosts}}},
        {Kind::gosleep_rec, {}, 0, {{1, 0, 2}, {1, 0, 1}}},
        {Kind::gosleep_rec, {}, 0, {{1, 0, 2}, {2, 0, 2}}},
        {static_cast<Kind>(7), {}, 0, {}},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_FALSE(decode(encode(wrong[i]))) << i;
}

TEST(MaintenanceWire, RefusesWrongLengths) {
    EXPECT_FALSE(decode({}));
    for (const Message& message : messages) {
        std::vector<std::byte> bytes = encode(message);
        for (std::size_t shorter = 0; shorter < bytes.size(); ++shorter)
            EXPECT_FALSE(decode(std::span(bytes).first(shorter)));
        for (int longer = 0; longer < 32; ++longer) {
            bytes.push_back({});
            EXPECT_FALSE(decode(bytes));
        }
    }
}

TEST(MaintenanceWire, AcceptsOnlyItsOwnEncodings) {
    test::expect_only_own_encodings(messages, decode, 100'000, 25'000);
}

}  // namespace
}  // namespace mutirao::maintenance
