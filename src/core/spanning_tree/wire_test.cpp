// Messages survive the wire, and what is not a message is refused: what every format promises.
#include "core/spanning_tree/rounds_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace mutirao::rounds {
namespace {

using Bytes = std::vector<std::byte>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

const RoundId id{7, 3, 0x1122334455667788};

// What a step carries, and what of that a merge does.

Message step(maintenance::Message message) { return {.kind = Kind::step, .id = id, .step = std::move(message)}; }
Message merge(ghs::Message message) { return step({maintenance::Kind::merge, std::move(message), {}}); }

const Weight link{0.1, 3, 300};
const HostSet few{0, 3};
const HostSet many{0, 63, 64, 199};

std::vector<Message> merges() {
    using ghs::Kind, ghs::State;
    return {
        merge({Kind::connect, 0, {}, State::sleeping, {7}}),
        merge({Kind::connect, 30, {}, State::sleeping, many}),
        merge({Kind::initiate, 1, link, State::find, few}),
        merge({Kind::initiate, 5, link, State::found, many}),
        merge({Kind::test, 2, {1e300, 0, std::numeric_limits<int>::max()}, State::sleeping, {}}),
        merge({Kind::accept, 0, {}, State::sleeping, {}}),
        merge({Kind::reject, 0, {}, State::sleeping, few}),
        merge({Kind::report, 0, link, State::sleeping, few}),
        merge({Kind::report, 0, {0.1, 3, 300, true}, State::sleeping, few}),
        merge({Kind::report, 0, Weight::infinite(), State::sleeping, {most_numbered_hosts - 1}}),
        merge({Kind::change_root, 0, {}, State::sleeping, few}),
        merge({Kind::finish, 0, {}, State::sleeping, {}}),
    };
}

std::vector<Message> wrong_merges() {
    using ghs::Kind, ghs::State;
    return {
        merge({Kind::connect, -1, {}, State::sleeping, few}),
        merge({Kind::connect, 31, {}, State::sleeping, few}),
        merge({Kind::connect, 0, link, State::sleeping, few}),
        merge({Kind::connect, 0, {}, State::sleeping, {}}),
        merge({Kind::initiate, 0, link, State::find, few}),
        merge({Kind::initiate, 1, link, State::sleeping, few}),
        merge({Kind::initiate, 1, Weight::infinite(), State::find, few}),
        merge({Kind::test, 1, {not_a_number, 0, 1}, State::sleeping, {}}),
        merge({Kind::test, 1, {infinite, 0, 1}, State::sleeping, {}}),
        merge({Kind::test, 1, {1, 1, 1}, State::sleeping, {}}),
        merge({Kind::test, 1, {1, -1, 1}, State::sleeping, {}}),
        merge({Kind::test, 1, link, State::find, {}}),
        merge({Kind::test, 1, link, State::sleeping, few}),
        merge({Kind::accept, 1, {}, State::sleeping, {}}),
        merge({Kind::report, 0, link, State::sleeping, {}}),
        merge({Kind::report, 0, {}, State::sleeping, few}),
        merge({static_cast<Kind>(8), 0, {}, State::sleeping, {}}),
        merge({Kind::accept, 0, {}, static_cast<State>(3), {}}),
    };
}

const std::vector<Weight> tree_links = {{0.5, 0, 3}, {1e300, 0, 4}, {0, 7, most_numbered_hosts - 1}};

std::vector<Message> steps() {
    using maintenance::Kind;
    return {
        step({Kind::not_fail, {}, {}}),
        step({Kind::not_fail_ack, {}, tree_links}),
        step({Kind::gosleep_fail, {}, tree_links}),
        step({Kind::not_rec, {}, {}}),
        step({Kind::not_rec_ack, {}, {}}),
        step({Kind::not_rec_ack, {}, tree_links}),
        step({Kind::gosleep_rec, {}, {{2, 0, 1}}}),
    };
}

std::vector<Message> wrong_steps() {
    using maintenance::Kind;
    return {
        step({Kind::not_fail, {}, tree_links}),
        step({Kind::not_fail_ack, {}, {}}),
        step({Kind::gosleep_fail, {}, {}}),
        step({Kind::gosleep_rec, {}, {}}),
        step({Kind::gosleep_rec, {}, {{not_a_number, 0, 1}}}),
        step({Kind::gosleep_rec, {}, {{infinite, 0, 1}}}),
        step({Kind::gosleep_rec, {}, {{1, 1, 1}}}),
        step({Kind::gosleep_rec, {}, {{1, -1, 1}}}),
        step({Kind::gosleep_rec, {}, {{1, 0, most_numbered_hosts}}}),
        step({Kind::gosleep_rec, {}, {{1, 0, 2}, {1, 0, 1}}}),
        step({Kind::gosleep_rec, {}, {{1, 0, 2}, {2, 0, 2}}}),
        step({static_cast<Kind>(7), {}, {}}),
    };
}

const LinkNews measured{0, 5, {2, 1, 12.5}};
const LinkNews broken{3, 1023, {3, 0, infinite}};
const LinkNews from_the_start{4, 5, {0, 0, 1e6}};

Message of(Kind kind, const RoundId& about, std::vector<LinkNews> links = {}) {
    return {.kind = kind, .id = about, .links = std::move(links)};
}

Message call() {
    return {.kind = Kind::round, .id = id, .base = {6, 0, 9}, .base_hash = 0xfedcba9876543210, .parts = 2,
            .links = {measured, {3, 4, {}}}, .tree = {{0, 3}, {0, 5}, {1, 2}}};
}

std::vector<Message> whole_messages() {
    std::vector<Message> list = {
        of(Kind::news, {}, {measured, broken, from_the_start}),
        of(Kind::newest, id),
        call(),
        of(Kind::ask_version, id),
        of(Kind::ask_version, {}),
        of(Kind::version, id, {measured, from_the_start}),
        of(Kind::version, {}),
    };
    list[3].base_hash = 5;
    list[5].part = 3;
    list[5].parts = 210;
    return list;
}

std::vector<Message> wrong_messages() {
    std::vector<Message> wrong = {
        of(Kind::news, {}),
        of(Kind::news, {}, {{0, 1, {}}}),
        of(Kind::news, {}, {{0, 1, {0, 1, not_a_number}}}),
        of(Kind::news, {}, {{0, 1, {0, 1, -1}}}),
        of(Kind::news, {}, {{0, 1, {0, 1, infinite}}}),
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
    return wrong;
}

std::vector<Message> joined(std::initializer_list<std::vector<Message>> lists) {
    std::vector<Message> all;
    for (const std::vector<Message>& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

// Nothing that is longer or shorter is taken.
TEST(Wire, CarriesEveryKindWhole) {
    EXPECT_FALSE(decode({}));
    for (const Message& message : joined({whole_messages(), steps(), merges()})) {
        Bytes bytes = encode(message);
        EXPECT_EQ(decode(bytes), message);
        for (std::size_t shorter = 0; shorter < std::min<std::size_t>(bytes.size(), 100); ++shorter)
            EXPECT_FALSE(decode(std::span(bytes).first(shorter)));
        for (int longer = 0; longer < 32; ++longer) {
            bytes.push_back({});
            EXPECT_FALSE(decode(bytes));
        }
    }
}

TEST(Wire, RefusesWhatNoHostSends) {
    const std::vector<Message> wrong = joined({wrong_messages(), wrong_steps(), wrong_merges()});
    for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_FALSE(decode(encode(wrong[i]))) << i;
}

void expect_bytes(const Message& message, std::size_t after, const std::vector<int>& expected) {
    const Bytes bytes = encode(message);
    ASSERT_EQ(bytes.size(), after + expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[after + i]), expected[i]) << i;
}

TEST(Wire, IsLittleEndianOnEveryMachine) {
    constexpr std::size_t of_step = 1 + 16, of_merge = of_step + 1 + 2;
    expect_bytes(of(Kind::news, {}, {{1, 258, {2, 3, 1.0}}}), 0,
                 {0, 1, 0, 1, 0, 2, 1, 2, 0, 0, 0, 3, 0, 0, 0,
                  0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
    expect_bytes(step({maintenance::Kind::not_fail_ack, {}, {{1.0, 3, 260}}}), of_step,
                 {2, 1, 0,                       // kind, links
                  0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // 1.0
                  3, 0, 0, 0, 4, 1, 0, 0});      // ends
    expect_bytes(merge({ghs::Kind::initiate, 2, {1.0, 3, 260}, ghs::State::find, {1, 10, 64}}), of_merge,
                 {1, 1, 2, 0, 0, 0,              // kind, state, level
                  0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // 1.0
                  3, 0, 0, 0, 4, 1, 0, 0,        // ends
                  0,                             // last resort
                  2, 0,                          // words of members
                  2, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
}

// Sets with a last word of zero would be second encodings, and ever larger ones cost memory.
TEST(Wire, RefusesSetsThatNoHostMakes) {
    const auto with_words = [](std::size_t count, bool last_is_zero) {
        Bytes bytes = encode(merges().front());  // with one word
        bytes.resize(bytes.size() - 10);
        bytes.push_back(static_cast<std::byte>(count % 256));
        bytes.push_back(static_cast<std::byte>(count / 256));
        bytes.resize(bytes.size() + 8 * count, std::byte{1});
        if (last_is_zero) std::fill(bytes.end() - 8, bytes.end(), std::byte{0});
        return decode(bytes);
    };
    constexpr std::size_t most_words = most_numbered_hosts / HostSet::word_bits;
    EXPECT_TRUE(with_words(2, false));
    EXPECT_FALSE(with_words(2, true));
    EXPECT_TRUE(with_words(most_words, false));
    EXPECT_FALSE(with_words(most_words + 1, false));
}

// One encoding per message: of encodings with up to three bits flipped, whatever decode() accepts encodes to the very
// bytes that came; at least a quarter are.
TEST(Wire, AcceptsOnlyItsOwnEncodings) {
    constexpr int rounds = 400'000;
    const std::vector<Message> messages = joined({whole_messages(), steps(), merges()});
    std::mt19937 random(7);
    int accepted = 0;
    for (int round = 0; round < rounds; ++round) {
        Bytes bytes = encode(messages[random() % messages.size()]);
        for (std::uint32_t flips = random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
        const auto decoded = decode(bytes);
        if (!decoded) continue;
        ++accepted;
        EXPECT_TRUE(encode(*decoded) == bytes);
    }
    EXPECT_GT(accepted, rounds / 4);
}

}  // namespace
}  // namespace mutirao::rounds
