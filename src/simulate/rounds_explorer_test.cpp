// Every order of messages, of what links and hosts do, and of when their ends find out, on networks
// small enough for that: two hosts, three in a row, a triangle.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "simulate/abort_note.h"
#include "simulate/explorer.h"
#include "simulate/rounds_rules.h"

namespace mutirao::simulate {
namespace {

using Kind = RoundsEvent::Kind;

constexpr double never = std::numeric_limits<double>::infinity();

const RoundsScript pair_of_hosts{2, {0, 5, 5, 0}, true, {}};
const RoundsScript row{3, {0, 1, never, 1, 0, 2, never, 2, 0}, true, {}};
const RoundsScript triangle{3, {0, 1, 3, 1, 0, 2, 3, 2, 0}, true, {}};

/// All channels work, and nothing is under way.
RoundsWorld at_rest(const RoundsScript& script) {
    RoundsWorld world(script);
    while (world.delivery_count() > 0) world.apply(world.delivery(0));
    return world;
}

std::string story(RoundsWorld world, const std::vector<RoundsWorld::Choice>& path) {
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
        text += world.describe(path[i]) + "\n";
        if (i + 1 < path.size()) world.apply(path[i]);
    }
    return text;
}

void explore(const RoundsWorld& start) {
    Explorer explorer(start, RoundsRules());
    const AbortNote note([&] { return story(start, explorer.path()); });
    if (const auto failure = explorer.run())
        FAIL() << failure->reason << "\n" << story(start, failure->path);
    std::int64_t most = 0;
    for (const std::int64_t each : explorer.worst()) most += each;
    std::printf("%zu states, %zu steps, at most %lld messages\n", explorer.states(),
                explorer.steps(), static_cast<long long>(most));
}

RoundsScript with(RoundsScript script, std::vector<RoundsEvent> events) {
    script.events = std::move(events);
    return script;
}

TEST(RoundsExplorer, TwoHostsFromTheFirstMessage) {
    explore(RoundsWorld(with(pair_of_hosts, {{Kind::latency, 0, 1, 7}})));
    RoundsScript nothing = pair_of_hosts;
    nothing.known = false;
    explore(RoundsWorld(nothing));
}

RoundsScript with_nothing_known(RoundsScript script) {
    script.known = false;
    return script;
}

// Whatever is measured, told or given up first.
TEST(RoundsExplorer, TheFirstTreeOfThreeHosts) {
    explore(at_rest(with_nothing_known(row)));
    explore(at_rest(with_nothing_known(triangle)));
}

// Also while its round is under way.
TEST(RoundsExplorer, TheFirstTreeOfARowWhileSomethingBreaks) {
    for (const RoundsEvent& event :
         {RoundsEvent{Kind::link, 0, 1, 0}, RoundsEvent{Kind::link, 1, 2, 0},
          RoundsEvent{Kind::restart, 0, 0, 0}, RoundsEvent{Kind::host, 0, 0, 0},
          RoundsEvent{Kind::host, 2, 0, 0}})
        explore(at_rest(with(with_nothing_known(row), {event})));
}

TEST(RoundsExplorer, TwoHostsWithAChannelThatBreaks) {
    explore(at_rest(with(pair_of_hosts, {{Kind::link, 0, 1, 0}, {Kind::link, 0, 1, 0}})));
    explore(at_rest(with(pair_of_hosts, {{Kind::latency, 0, 1, 7}, {Kind::reset, 0, 1, 0}})));
    explore(at_rest(with(pair_of_hosts, {{Kind::alarm, 0, 1, 0}, {Kind::alarm, 1, 0, 0}})));
}

TEST(RoundsExplorer, TwoHostsOfWhichOneIsBornAgain) {
    for (const int host : {0, 1})
        explore(at_rest(with(pair_of_hosts, {{Kind::host, host, 0, 0}, {Kind::host, host, 0, 0}})));
}

/// Whatever may happen to a network; a channel that is replaced at once leads to the most orders.
std::vector<RoundsEvent> all_events(const RoundsScript& script, bool replaced_channels) {
    std::vector<RoundsEvent> events;
    for (int a = 0; a < script.hosts; ++a) {
        events.push_back({Kind::host, a, 0, 0});
        for (int b = 0; b < script.hosts; ++b) {
            const double latency_us =
                script.latency_us[static_cast<std::size_t>(a * script.hosts + b)];
            if (a == b || latency_us == never) continue;
            events.push_back({Kind::alarm, a, b, 0});
            if (a > b) continue;
            events.push_back({Kind::latency, a, b, 10 * latency_us});
            events.push_back({Kind::latency, a, b, latency_us / 10});
            events.push_back({Kind::link, a, b, 0});
            if (replaced_channels) events.push_back({Kind::reset, a, b, 0});
        }
    }
    return events;
}

TEST(RoundsExplorer, EveryEventInARow) {
    for (const RoundsEvent& event : all_events(row, true)) explore(at_rest(with(row, {event})));
}

TEST(RoundsExplorer, EveryEventInATriangle) {
    for (const RoundsEvent& event : all_events(triangle, false))
        explore(at_rest(with(triangle, {event})));
}

// Without the host in the middle, whose return leads to 665,445 states.
TEST(RoundsExplorer, SomethingDiesInARowAndAnythingFollows) {
    const auto events = all_events(row, false);
    for (const RoundsEvent& first : events) {
        const bool dies = first.kind == Kind::link || (first.kind == Kind::host && first.a != 1);
        if (!dies) continue;
        for (const RoundsEvent& second : events) explore(at_rest(with(row, {first, second})));
    }
}

}  // namespace
}  // namespace mutirao::simulate
