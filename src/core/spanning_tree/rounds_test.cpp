// What single hosts do, message by message. That hosts agree in the end, whatever happens, is what
// the walks in simulate/ show.
#include "core/spanning_tree/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace mutirao {
namespace {

using rounds::Kind;
using rounds::Message;
using rounds::unusable_us;

Rounds knowing_nothing(int self, int hosts, std::uint64_t incarnation = 1) { return {self, hosts, incarnation}; }

/// 0-1 takes 1, 1-2 takes 2, 0-2 takes 3.
Rounds of_triangle(int self) {
    rounds::LinkTable links(3);
    links.set(0, 1, {0, 0, 1});
    links.set(1, 2, {0, 0, 2});
    links.set(0, 2, {0, 0, 3});
    return {self, std::move(links), {{0, 1}, {1, 2}}, 1};
}

Message news(int low, int high, std::uint32_t breaks, std::uint32_t sequence, double latency_us) {
    return {.kind = Kind::news, .links = {{low, high, {breaks, sequence, latency_us}}}};
}

std::vector<Message> to(int host, const rounds::Output& output) {
    std::vector<Message> messages;
    for (const rounds::Outgoing& outgoing : output)
        if (outgoing.to == host) messages.push_back(outgoing.message);
    return messages;
}

int count(const rounds::Output& output, Kind kind) {
    return static_cast<int>(std::ranges::count_if(
        output, [&](const rounds::Outgoing& each) { return each.message.kind == kind; }));
}

double latency_us(const Rounds& host, int a, int b) {
    return host.view().latency_us[static_cast<std::size_t>(a * host.view().host_count + b)];
}

/// Hosts whose messages arrive in the order of sending, at once.
struct Hosts {
    std::vector<Rounds> machines;
    struct Sent {
        int from = -1;
        rounds::Outgoing outgoing;
    };
    std::deque<Sent> under_way;

    void send(int from, const rounds::Output& output) {
        for (const rounds::Outgoing& each : output) under_way.push_back({from, each});
    }
    void join(int a, int b) {
        send(a, at(a).joined(b));
        send(b, at(b).joined(a));
    }
    void deliver_all() {
        while (!under_way.empty()) {
            const Sent next = std::move(under_way.front());
            under_way.pop_front();
            send(next.outgoing.to, at(next.outgoing.to).on(next.from, next.outgoing.message));
        }
    }
    Rounds& at(int host) { return machines[static_cast<std::size_t>(host)]; }
};

Hosts joined_triangle() {
    Hosts hosts{{of_triangle(0), of_triangle(1), of_triangle(2)}, {}};
    hosts.join(0, 1);
    hosts.join(1, 2);
    hosts.join(0, 2);
    hosts.deliver_all();
    return hosts;
}

// Whoever is alone waits for nobody.
TEST(Rounds, TheWatchdogStartsARoundThatWaitsForLinks) {
    Hosts hosts{{knowing_nothing(0, 3), knowing_nothing(1, 3, 2), knowing_nothing(2, 3, 3)}, {}};
    EXPECT_FALSE(hosts.at(0).waits_for_links());
    hosts.join(0, 1);
    hosts.send(0, hosts.at(0).announce(1, 5));
    hosts.deliver_all();
    EXPECT_TRUE(hosts.at(1).restart().empty());
    hosts.send(0, hosts.at(0).restart());
    hosts.deliver_all();
    EXPECT_EQ(hosts.at(1).version().tree, (EdgeList{{0, 1}}));
    // What comes later joins the tree as it comes.
    hosts.join(0, 2);
    hosts.send(0, hosts.at(0).announce(2, 7));
    hosts.deliver_all();
    EXPECT_EQ(hosts.at(2).version().tree, (EdgeList{{0, 1}, {0, 2}}));
    EXPECT_EQ(hosts.at(2).view().unknown_links, 1);
}

TEST(Rounds, WhatHostsStartWithIsVersionZero) {
    const Rounds host = of_triangle(2);
    EXPECT_EQ(host.version().id.number, 0U);
    EXPECT_EQ(host.version().tree, (EdgeList{{0, 1}, {1, 2}}));
    EXPECT_EQ(host.version().hash, of_triangle(0).version().hash);
    EXPECT_NE(host.version().hash, knowing_nothing(2, 3).version().hash);
    EXPECT_EQ(host.view().unknown_links, 0);
    EXPECT_EQ(knowing_nothing(2, 3).view().unknown_links, 2);
}

TEST(Rounds, OnlyTheLowerHostAnnouncesLatencies) {
    Rounds higher = of_triangle(1);
    higher.joined(0);
    EXPECT_TRUE(higher.announce(0, 5).empty());
    EXPECT_EQ(higher.announce(0, unusable_us).size(), 1U);
    EXPECT_EQ(latency_us(higher, 0, 1), unusable_us);
    Rounds lower = of_triangle(0);
    lower.announce(1, 5);
    EXPECT_EQ(latency_us(lower, 0, 1), 5);
}

TEST(Rounds, ALinkCarriesNothingBeforeItsChannelWorks) {
    Rounds host = knowing_nothing(0, 2);
    host.announce(1, 5);
    EXPECT_EQ(latency_us(host, 0, 1), unusable_us);
    host.joined(1);
    host.announce(1, 5);
    EXPECT_EQ(latency_us(host, 0, 1), 5);
    host.lost(1);
    host.announce(1, 5);
    EXPECT_EQ(latency_us(host, 0, 1), unusable_us);
    EXPECT_EQ(host.view().last_known_us, (std::vector<double>{0, 5, 5, 0}));
}

TEST(Rounds, IgnoresWhatComesOverAChannelThatDoesNotWork) {
    Rounds host = of_triangle(1);
    EXPECT_TRUE(host.on(2, news(0, 2, 0, 1, 7)).empty());
    EXPECT_EQ(latency_us(host, 0, 2), 3);
}

TEST(Rounds, TheViewCountsItsChanges) {
    Hosts hosts = joined_triangle();
    const std::uint64_t before = hosts.at(2).view().changes;
    hosts.at(2).on(0, news(0, 1, 0, 1, 9));
    EXPECT_GT(hosts.at(2).view().changes, before);
    const NetworkView view = hosts.at(2).view();
    hosts.at(2).on(1, news(0, 1, 0, 1, 9));
    EXPECT_EQ(hosts.at(2).view(), view);
}

TEST(Rounds, OnlyTheLeaderRestartsARound) {
    Hosts hosts = joined_triangle();
    EXPECT_TRUE(hosts.at(0).restart().empty());
    const auto calls = hosts.at(0).announce(1, 9);
    hosts.at(1).on(0, to(1, calls)[0]);
    hosts.at(1).on(0, to(1, calls)[1]);
    ASSERT_TRUE(hosts.at(1).running());
    EXPECT_TRUE(hosts.at(1).restart().empty());
    EXPECT_EQ(count(hosts.at(0).restart(), Kind::round), 2);
    EXPECT_EQ(hosts.at(0).newest().number, 2U);
}

// A round's later messages make no sense to whoever misses earlier ones, so none of them pass over
// the new channel: neither an acknowledgement that comes, nor the question that 1 asks 2 otherwise.
TEST(Rounds, AChannelThatBrokeCarriesNoMoreOfTheRound) {
    for (const bool breaks : {false, true}) {
        Hosts hosts = joined_triangle();
        const auto from_root = to(1, hosts.at(0).announce(2, 4));
        Rounds& host = hosts.at(1);
        int steps = 0;
        for (const Message& message : from_root) {
            if (breaks && message.kind == Kind::step) {
                host.lost(2);
                host.joined(2);
            }
            for (const Message& sent : to(2, host.on(0, message)))
                if (sent.kind == Kind::step) ++steps;
        }
        ASSERT_TRUE(host.running());
        EXPECT_EQ(steps, breaks ? 0 : 1);
        const maintenance::Message step{maintenance::Kind::not_fail_ack, {}, {{2, 1, 2}}};
        EXPECT_EQ(host.on(2, {.kind = Kind::step, .id = host.newest(), .step = step}).size(), breaks ? 0U : 1U);
    }
}

TEST(Rounds, WhoJoinsHearsOfTheNewestRound) {
    Hosts hosts = joined_triangle();
    hosts.send(0, hosts.at(0).announce(1, 9));
    hosts.deliver_all();
    hosts.at(1).lost(0);
    EXPECT_EQ(count(hosts.at(1).joined(0), Kind::newest), 1);
}

TEST(Rounds, ANewChannelInPlaceOfAnOldOneIsABreak) {
    Hosts hosts = joined_triangle();
    EXPECT_GT(count(hosts.at(1).joined(0), Kind::news), 0);
    EXPECT_EQ(latency_us(hosts.at(1), 0, 1), unusable_us);
}

// Everything that hosts of a large network tell each other fits a frame, and survives it.
TEST(Rounds, LargeNetworksSpeakInPieces) {
    constexpr int hosts = 120;
    Hosts pair{{knowing_nothing(0, hosts), knowing_nothing(1, hosts, 2)}, {}};
    Message many{.kind = Kind::news};
    for (int low = 1; low < hosts; ++low)
        for (int high = low + 1; high < hosts; ++high)
            many.links.push_back({low, high, {0, 1, static_cast<double>(low + high)}});
    pair.at(1).joined(2);
    for (const Message& piece : rounds::split(many)) pair.at(1).on(2, piece);
    const auto told = pair.at(1).joined(0);
    EXPECT_EQ(count(told, Kind::news), 3);
    pair.at(0).joined(1);
    for (const Message& message : to(0, told)) {
        const auto bytes = rounds::encode(message);
        EXPECT_LE(bytes.size(), rounds::most_message_bytes);
        const auto decoded = rounds::decode(bytes);
        ASSERT_TRUE(decoded);
        pair.at(0).on(1, *decoded);
    }
    EXPECT_EQ(pair.at(0).view().latency_us, pair.at(1).view().latency_us);
    pair.at(0).announce(1, 3);
    const auto calls = pair.at(0).restart();
    ASSERT_EQ(count(calls, Kind::round), 3);
    std::vector<int> steps;
    for (const Message& message : to(1, calls)) {
        const auto answers = pair.at(1).on(0, message);
        if (message.kind == Kind::round) steps.push_back(count(answers, Kind::step));
    }
    EXPECT_EQ(steps[0] + steps[1], 0);
    EXPECT_GT(steps[2], 0);
}

}  // namespace
}  // namespace mutirao
