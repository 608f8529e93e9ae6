// The explorer and the virtual clock themselves, on a toy whose states can be counted and whose times can be added up
// by hand: an explorer that overlooks orders would find nothing wrong with anything.
#include "simulate/explorer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "simulate/channels.h"
#include "simulate/graphs.h"
#include "simulate/timed_run.h"

namespace mutirao::simulate {
namespace toy {

struct Message {
    int number = 0;
};

std::array<std::byte, 1> encode(const Message& message) {
    return {static_cast<std::byte>(message.number)};
}

struct Outgoing {
    int to = -1;
    Message message;
};

enum class Manner { silent, echoes_for_ever, answers_when_awake, returns_one_less };

/// Sends `count` numbers to `peer` when woken.
struct Talker {
    int peer = -1;
    int count = 0;
    Manner manner = Manner::silent;
    int first = 1;
    bool awake = false;
    int last_received = 0;
    bool in_order = true;

    bool asleep() const { return !awake; }
    std::vector<Outgoing> wake() {
        awake = true;
        std::vector<Outgoing> out;
        for (int i = 0; i < count; ++i) out.push_back({peer, {first + i}});
        return out;
    }
    std::vector<Outgoing> on(int from, const Message& message) {
        if (manner == Manner::echoes_for_ever) return {{from, message}};
        if (message.number == 0) return {};
        if (manner == Manner::returns_one_less) return {{from, {message.number - 1}}};
        in_order = in_order && message.number == last_received + 1;
        last_received = message.number;
        if (manner == Manner::answers_when_awake && awake) return {{from, {0}}};
        return {};
    }
    auto parts() const { return std::tie(awake, last_received, in_order); }
};

using World = Channels<Talker>;

struct Rules {
    using Counts = std::array<int, 1>;
    int forbidden_number = -1;

    Counts count(int, const Outgoing&) const { return {1}; }
    std::string objection(const World& world, const World::Choice& choice) const {
        const bool forbidden = choice.kind == World::Choice::Kind::deliver &&
                               world.next(choice.from, choice.to).number == forbidden_number;
        return forbidden ? "forbidden number" : "";
    }
    std::string objection_at_rest(const World& world) const {
        for (int host = 0; host < world.host_count(); ++host)
            if (!world.machine(host).in_order) return "out of order";
        return {};
    }
};

}  // namespace toy

namespace {

using toy::Manner;
using toy::Rules;
using toy::Talker;
using toy::World;

World pair(int count, Manner manner = Manner::silent) {
    return World({Talker{1, count, manner}, Talker{0, count, manner}}, {{0, 1}});
}

// Each direction by itself passes through "not yet", n, n-1, ..., 0 in flight: n + 2 states and
// n + 1 steps; both are independent, so states multiply.
TEST(Explorer, VisitsEveryCombinationOnce) {
    for (int count : {0, 1, 2, 5}) {
        Explorer explorer(pair(count), Rules{});
        ASSERT_EQ(explorer.run(), "");
        const auto one_way = static_cast<std::size_t>(count) + 2;
        EXPECT_EQ(explorer.states(), one_way * one_way);
        EXPECT_EQ(explorer.steps(), 2 * one_way * (one_way - 1));
        EXPECT_EQ(explorer.worst(), (Rules::Counts{2 * count}));
    }
}

// Whoever hears of the other before waking does not answer; at least one of the two answers.
TEST(Explorer, CountsTheWorstOfAllOrders) {
    Explorer explorer(pair(1, Manner::answers_when_awake), Rules{});
    ASSERT_EQ(explorer.run(), "");
    EXPECT_EQ(explorer.worst(), (Rules::Counts{4}));
}

TEST(Explorer, NamesThePathToAFailure) {
    Explorer explorer(pair(3), Rules{.forbidden_number = 2});
    EXPECT_EQ(explorer.run(), "forbidden number");
    const std::vector<World::Choice> path = explorer.path();
    World world = pair(3);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) world.apply(path[i]);
    const World::Choice last = path.back();
    EXPECT_EQ(world.next(last.from, last.to).number, 2);
}

TEST(Explorer, SeesAnExecutionThatNeverEnds) {
    Explorer explorer(pair(1, Manner::echoes_for_ever), Rules{});
    EXPECT_EQ(explorer.run(), "an order of events that never ends");
}

TEST(Explorer, StopsAtTheMostStatesAllowed) {
    Explorer explorer(pair(5), Rules{}, 10);
    EXPECT_EQ(explorer.run(), "more states than allowed");
}

TEST(Channels, DigestsDependOnTheStateAndNotOnTheWayThere) {
    const World::Choice wake_0{World::Choice::Kind::wake, -1, 0};
    const World::Choice wake_1{World::Choice::Kind::wake, -1, 1};
    World one = pair(2);
    World other = pair(2);
    EXPECT_EQ(one.digest(), other.digest());
    one.apply(wake_0);
    other.apply(wake_1);
    EXPECT_FALSE(one.digest() == other.digest());
    one.apply(wake_1);
    other.apply(wake_0);
    EXPECT_EQ(one.digest(), other.digest());
}

TEST(Digest, DependsOnOrderAndLength) {
    using Numbers = std::vector<int>;
    EXPECT_EQ(digest_of(Numbers{1, 2}, 0.0), digest_of(Numbers{1, 2}, -0.0));
    EXPECT_FALSE(digest_of(Numbers{1, 2}) == digest_of(Numbers{2, 1}));
    EXPECT_FALSE(digest_of(Numbers{1}, Numbers{2, 3}) == digest_of(Numbers{1, 2}, Numbers{3}));
    EXPECT_FALSE(digest_of(std::vector<std::byte>(1)) == digest_of(std::vector<std::byte>(2)));
    EXPECT_FALSE(digest_of(std::optional<int>()) == digest_of(std::optional<int>(0)));
}

// Counted by Burnside's lemma: the number of orders divided by the symmetries of the graph, since
// no renumbering but the identity keeps distinct weights in place.
TEST(Graphs, WeightingsAreCountedUpToRenumbering) {
    EXPECT_EQ(all_weightings(3, complete_links(3)).size(), 6U / 6);
    EXPECT_EQ(all_weightings(4, complete_links(4)).size(), 720U / 24);
    EXPECT_EQ(all_weightings(5, cycle_links(5)).size(), 120U / 10);
    EXPECT_EQ(all_weightings(4, chorded_cycle).size(), 120U / 4);
}

// --- on a virtual clock ----------------------------------------------------------------------------------

using Choice = World::Choice;

/// (time, receiver) of everything that happens.
using Times = std::vector<std::pair<double, int>>;

TEST(TimedRun, AddsUpTheLatenciesOfAnExchange) {
    TimedRun run(World({Talker{1, 1, Manner::returns_one_less, 3}, Talker{0, 0, Manner::returns_one_less}}, {{0, 1}}),
                 [](int from, int) { return from == 0 ? 5.0 : 2.0; });
    run.schedule(10, {Choice::Kind::wake, -1, 0});
    Times times;
    while (const auto step = run.step()) times.emplace_back(step->time_us, step->choice.to);
    EXPECT_EQ(times, (Times{{10, 0}, {15, 1}, {17, 0}, {22, 1}, {24, 0}}));
    EXPECT_EQ(run.now_us(), 24);
}

// The second message would arrive first: it waits for the one before it.
TEST(TimedRun, KeepsTheOrderWhenALatencyFalls) {
    double latency_us = 12;
    TimedRun run(World({Talker{1, 2}, Talker{}}, {{0, 1}}), [&](int, int) { return std::exchange(latency_us, 3.0); });
    run.schedule(0, {Choice::Kind::wake, -1, 0});
    while (const auto step = run.step()) EXPECT_EQ(step->time_us, step->choice.to == 1 ? 12 : 0);
    EXPECT_EQ(run.world().machine(1).last_received, 2);
}

TEST(TimedRun, WhatComesAtOneTimeKeepsTheOrderOfSending) {
    TimedRun run(World({Talker{2, 1}, Talker{2, 1}, Talker{}}, {{0, 2}, {1, 2}}),
                 [](int from, int) { return from == 1 ? 4.0 : 3.0; });
    run.schedule(2, {Choice::Kind::wake, -1, 0});
    run.schedule(1, {Choice::Kind::wake, -1, 1});
    std::vector<int> senders;
    while (const auto step = run.step())
        if (step->choice.kind == Choice::Kind::deliver) senders.push_back(step->choice.from);
    EXPECT_EQ(senders, (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace mutirao::simulate
