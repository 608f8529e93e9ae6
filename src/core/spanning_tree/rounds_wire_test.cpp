// Messages survive the wire, and what is not a message is refused.
#include "core/spanning_tree/rounds_wire.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/spanning_tree/test_wire.h"

namespace mutirao::rounds {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

const RoundId id{7, 3, 0x1122334455667788};
const LinkNews measured{0, 5, {2, 1, 12.5}};
const LinkNews broken{3, 1023, {3, 0, never}};
const LinkNews from_the_start{4, 5, {0, 0, 1e6}};

Message of(Kind kind, const RoundId& about, std::vector<LinkNews> links = {}) {
    Message message = message_of(kind);
    message.id = about;
    message.links = std::move(links);
    return message;
}

Message call() {
    Message message = of(Kind::round, id, {measured, {3, 4, {}}});
    message.base = {6, 0, 9};
    message.base_hash = 0xfedcba9876543210;
    message.tree = {{0, 3}, {0, 5}, {1, 2}};
    message.parts = 2;
    return message;
}

Message step() {
    Message message = of(Kind::step, id);
    message.step.kind = maintenance::Kind::not_fail;
    message.step.tag = 1;
    return message;
}

std::vector<Message> messages() {
    std::vector<Message> list = {
        of(Kind::news, {}, {measured, broken, from_the_start}),
        message_of(Kind::ask_start),
        of(Kind::newest, id),
        call(),
        of(Kind::ask_version, id),
        of(Kind::ask_version, {}),
        of(Kind::version, id, {measured, from_the_start}),
        of(Kind::version, {}),
        step(),
    };
    list[4].base_hash = 5;
    list[6].part = 3;
    list[6].parts = 210;
    return list;
}

TEST(RoundsWire, CarriesEveryKind) {
    for (const Message& message : messages()) {
        const auto decoded = decode(encode(message));
        ASSERT_TRUE(decoded) << static_cast<int>(message.kind);
        EXPECT_EQ(*decoded, message);
    }
}

TEST(RoundsWire, IsLittleEndianOnEveryMachine) {
    const auto bytes = encode(of(Kind::news, {}, {{1, 258, {2, 3, 1.0}}}));
    const std::vector<int> expected = {0, 1, 0, 1, 0, 2, 1, 2, 0, 0, 0, 3, 0, 0, 0,
                                       0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(RoundsWire, RefusesWhatNoHostSends) {
    constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    std::vector<Message> wrong = {
        of(Kind::news, {}),
        of(Kind::news, {}, {{0, 1, {}}}),
        of(Kind::news, {}, {{0, 1, {0, 1, not_a_number}}}),
        of(Kind::news, {}, {{0, 1, {0, 1, -1}}}),
        of(Kind::news, {}, {{0, 1, {0, 1, never}}}),
        of(Kind::news, {}, {{0, 1, {1, 0, 5}}}),
        of(Kind::news, {}, {{1, 1, {0, 1, 5}}}),
        of(Kind::news, {}, {{0, 1024, {0, 1, 5}}}),
        of(Kind::news, {}, {measured, measured}),
        of(Kind::news, {}, {broken, measured}),
        of(Kind::newest, {}),
        of(Kind::newest, {7, 1024, 0}),
        of(Kind::newest, {7, -1, 0}),
        of(Kind::version, id, {broken}),
        of(Kind::version, {0, 2, 0}),
    };
    for (int i = 0; i < 5; ++i) wrong.push_back(call());
    wrong.end()[-1].part = 2;
    wrong.end()[-2].part = 1;  // only the first piece tells the tree
    wrong.end()[-3].tree = {{0, 5}, {0, 3}};
    wrong.end()[-4].parts = 300;
    wrong.end()[-5].id = {};
    for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_FALSE(decode(encode(wrong[i]))) << i;
}

TEST(RoundsWire, RefusesWrongLengths) {
    EXPECT_FALSE(decode({}));
    for (const Message& message : messages()) {
        std::vector<std::byte> bytes = encode(message);
        for (std::size_t shorter = 0; shorter < bytes.size(); ++shorter)
            EXPECT_FALSE(decode(std::span(bytes).first(shorter)));
        for (int longer = 0; longer < 24; ++longer) {
            bytes.push_back({});
            EXPECT_FALSE(decode(bytes)) << static_cast<int>(message.kind);
        }
    }
}

TEST(RoundsWire, AcceptsOnlyItsOwnEncodings) {
    test::expect_only_own_encodings(messages(), decode, 200'000, 50'000);
}

}  // namespace
}  // namespace mutirao::rounds
