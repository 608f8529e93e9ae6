// The virtual clock itself on a toy whose times can be added up by hand, and how long the spanning
// tree takes over the links of a real network. Both are exact: nothing here depends on the machine.
// Planted and caught: messages that overtake, ties in another order, the latency of the other
// direction, and all that makes hosts know fewer members (see spanning_tree_explorer_test.cpp).
#include "simulate/timed_run.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/network/test_networks.h"
#include "simulate/spanning_tree_rules.h"

namespace mutirao::simulate {
namespace {

struct Count {
    int left = 0;
};

std::vector<std::byte> encode(const Count& message) {
    return {static_cast<std::byte>(message.left)};
}

struct CountOut {
    int to = -1;
    Count message;
};

/// Sends `volley` messages when woken, numbered downwards; whoever gets a positive number sends
/// back one less.
struct Player {
    int peer = -1;
    int first = 0;
    int volley = 1;
    bool awake = false;

    bool asleep() const { return !awake; }
    std::vector<CountOut> wake() {
        awake = true;
        std::vector<CountOut> out;
        for (int i = 0; i < volley; ++i) out.push_back({peer, {first - i}});
        return out;
    }
    std::vector<CountOut> on(int from, const Count& message) const {
        if (message.left <= 0) return {};
        return {{from, {message.left - 1}}};
    }
    auto parts() const { return std::tie(awake); }
};

using Players = Channels<Player>;
using Choice = Players::Choice;

/// (time, receiver) of everything that happens.
std::vector<std::tuple<double, int>> times(TimedRun<Players>& run) {
    std::vector<std::tuple<double, int>> list;
    while (const auto step = run.step()) list.emplace_back(step->time_us, step->choice.to);
    return list;
}

TEST(TimedRun, AddsUpTheLatenciesOfAnExchange) {
    TimedRun run(Players({Player{1, 3}, Player{0}}, {{0, 1}}),
                 [](int from, int) { return from == 0 ? 5.0 : 2.0; });
    run.schedule(10, {Choice::Kind::wake, -1, 0});
    EXPECT_EQ(times(run), (std::vector<std::tuple<double, int>>{
                              {10, 0}, {15, 1}, {17, 0}, {22, 1}, {24, 0}}));
    EXPECT_EQ(run.now_us(), 24);
}

// The second message would arrive first: it waits for the one before it.
TEST(TimedRun, KeepsTheOrderWhenALatencyFalls) {
    double latency_us = 12;
    TimedRun run(Players({Player{1, 1, 2}, Player{0}}, {{0, 1}}), [&](int from, int) {
        if (from == 1) return 1.0;
        return std::exchange(latency_us, 3.0);
    });
    run.schedule(0, {Choice::Kind::wake, -1, 0});
    std::vector<int> answers;
    while (const auto step = run.step()) {
        if (step->choice.to == 1) {
            EXPECT_EQ(step->time_us, 12);
            answers.push_back(static_cast<int>(step->sent.size()));
        }
    }
    EXPECT_EQ(answers, (std::vector<int>{1, 0}));
}

TEST(TimedRun, WhatComesAtOneTimeKeepsTheOrderOfSending) {
    TimedRun run(Players({Player{2}, Player{2}, Player{}}, {{0, 2}, {1, 2}}),
                 [](int from, int) { return from == 1 ? 4.0 : 3.0; });
    run.schedule(2, {Choice::Kind::wake, -1, 0});
    run.schedule(1, {Choice::Kind::wake, -1, 1});
    std::vector<int> senders;
    while (const auto step = run.step())
        if (step->choice.kind == Choice::Kind::deliver) senders.push_back(step->choice.from);
    EXPECT_EQ(senders, (std::vector<int>{1, 0}));
}

// 24 hosts in six sites that lie up to 0.72 s apart (round trip). Without known members: 10.57 s
// and 816 messages; if rejections do not name them: 3.39 s and 426.
TEST(TimedRun, TheSpanningTreeOfSixSitesIsBuiltInSeconds) {
    const Network network = test::six_sites();
    const Graph graph = graph_of(network);
    const SpanningTreeRules rules(graph);
    TimedRun run(ghs_world(graph),
                 [&](int from, int to) { return network.link(from, to).latency_us; });
    for (int host = 0; host < graph.hosts; ++host)
        run.schedule(0, {GhsWorld::Choice::Kind::wake, -1, host});
    std::size_t messages = 0;
    while (const auto step = run.step()) messages += step->sent.size();
    EXPECT_EQ(rules.objection_at_rest(run.world()), "");
    EXPECT_LT(run.now_us(), 2.6e6);
    EXPECT_LE(messages, 366U);
}

}  // namespace
}  // namespace mutirao::simulate
