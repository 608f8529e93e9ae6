// Every order of messages, of what links and hosts do, and of when their ends find out, on networks
// small enough for that: two hosts, three in a row, a triangle.
#include "simulate/rounds_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "core/network/test_networks.h"
#include "core/network/tree.h"
#include "core/spanning_tree/rounds_message.h"
#include "simulate/executions.h"
#include "simulate/random.h"
#include "simulate/timed_run.h"

namespace mutirao::simulate {
namespace {

using Kind = RoundsEvent::Kind;

constexpr double never = std::numeric_limits<double>::infinity();

/// A matrix of latencies, restricted to the hosts that its usable links join to one of them.
struct Reached {
    std::vector<bool> hosts;
    std::vector<double> latency_us;
};

void restrict_to(const std::vector<bool>& hosts, std::vector<double>& latency_us) {
    for (std::size_t i = 0; i < latency_us.size(); ++i) {
        const std::size_t a = i / hosts.size();
        const std::size_t b = i % hosts.size();
        if (a != b && !(hosts[a] && hosts[b])) latency_us[i] = never;
    }
}

Reached reached_from(int host, std::vector<double> latency_us) {
    const auto count = static_cast<std::size_t>(std::lround(std::sqrt(latency_us.size())));
    Reached reached{std::vector<bool>(count, false), std::move(latency_us)};
    reached.hosts[static_cast<std::size_t>(host)] = true;
    for (std::size_t round = 0; round < count; ++round) {
        for (std::size_t i = 0; i < reached.latency_us.size(); ++i) {
            if (std::isfinite(reached.latency_us[i]) && reached.hosts[i / count])
                reached.hosts[i % count] = true;
        }
    }
    restrict_to(reached.hosts, reached.latency_us);
    return reached;
}

std::vector<double> truth(const RoundsWorld& world) {
    std::vector<double> latency_us;
    for (int a = 0; a < world.host_count(); ++a)
        for (int b = 0; b < world.host_count(); ++b)
            latency_us.push_back(a == b ? 0 : world.true_latency_us(a, b));
    return latency_us;
}

std::string of_host(int host, const std::string& what) {
    return "host " + std::to_string(host) + " " + what;
}

bool waits(const RoundsWorld& world) {
    for (int host = 0; host < world.host_count(); ++host)
        if (world.alive(host) && world.machine(host).waits_for_links()) return true;
    return false;
}

bool alike(const Version& a, const Version& b) {
    return a.id == b.id && a.hash == b.hash && a.tree == b.tree && a.links.latencies_us() == b.links.latencies_us();
}

/// Of a host by itself.
std::string host_objection(const RoundsWorld& world, int host, const Reached& reached) {
    const Rounds& machine = world.machine(host);
    if (machine.running()) return of_host(host, "is in a round that does not end");
    // What hosts start with may hold several networks.
    const std::vector<double> of_version_us = machine.version().links.latencies_us();
    std::vector<double> latency_us = of_version_us;
    restrict_to(reached.hosts, latency_us);
    if (latency_us != reached.latency_us)
        return of_host(host, "has a version for other latencies than it knows");
    const EdgeList& tree = machine.version().tree;
    if (tree != minimum_spanning_tree(Network(world.host_count(), of_version_us)))
        return of_host(host, "has another tree than Kruskal");
    if (machine.view().tree != machine.version().tree)
        return of_host(host, "shows another tree than it has");
    if (world.to_be_measured()) return {};
    if (machine.view().unknown_links != 0) return of_host(host, "waits for links for ever");
    if (reached.latency_us != reached_from(host, truth(world)).latency_us)
        return of_host(host, "does not know what its links are like");
    return {};
}

/// What must hold in a world of rounds, whatever happens to links and hosts; Kruskal's algorithm
/// says which tree it must be.
struct RoundsRules {
    using Counts = std::array<std::int64_t, 1>;  ///< messages

    Counts count(int, const rounds::Outgoing&) const { return {1}; }
    std::string objection(const RoundsWorld& world, const RoundsWorld::Choice&) const { return world.violation(); }
    /// Nothing is under way: hosts that reach each other know the same, have the same version with
    /// the tree of what they know, and are in no round. Once nothing is left to be measured, what
    /// they know is true.
    std::string objection_at_rest(const RoundsWorld& world) const {
        if (!world.violation().empty()) return world.violation();
        // Until then a round may wait for a host that is gone.
        if (world.to_be_given_up()) return {};
        // And a host that has no tree for links that are still to be measured.
        if (world.to_be_measured() && waits(world)) return {};
        for (int host = 0; host < world.host_count(); ++host) {
            if (!world.alive(host)) continue;
            const Version& version = world.machine(host).version();
            const Reached reached = reached_from(host, world.machine(host).view().latency_us);
            if (std::string reason = host_objection(world, host, reached); !reason.empty())
                return reason;
            for (int other = 0; other < world.host_count(); ++other) {
                if (!reached.hosts[static_cast<std::size_t>(other)]) continue;
                if (!world.alive(other)) return of_host(host, "does not know that a host is gone");
                if (!alike(world.machine(other).version(), version))
                    return of_host(host, "has another version than host " + std::to_string(other));
            }
        }
        return {};
    }
};

const RoundsScript pair_of_hosts{2, {0, 5, 5, 0}, true, {}};
const RoundsScript row{3, {0, 1, never, 1, 0, 2, never, 2, 0}, true, {}};
const RoundsScript triangle{3, {0, 1, 3, 1, 0, 2, 3, 2, 0}, true, {}};

/// All channels work, and nothing is under way.
RoundsWorld at_rest(const RoundsScript& script) {
    RoundsWorld world(script);
    while (world.delivery_count() > 0) world.apply(world.delivery(0));
    return world;
}

void explore(const RoundsWorld& start) {
    Explored total;
    explore(start, RoundsRules(), "", total);
    total.print();
}

RoundsScript with(RoundsScript script, std::vector<RoundsEvent> events) {
    script.events = std::move(events);
    return script;
}

RoundsScript with_nothing_known(RoundsScript script) {
    script.known = false;
    return script;
}

TEST(RoundsExplorer, TwoHostsFromTheFirstMessage) {
    explore(RoundsWorld(with(pair_of_hosts, {{Kind::latency, 0, 1, 7}})));
    explore(RoundsWorld(with_nothing_known(pair_of_hosts)));
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

// Random executions of rounds while links change, die and come back and agents die and return:
// thousands of seeds, or as many as MUTIRAO_SEEDS says. A failure names its seed and tells the story;
// MUTIRAO_FIRST_SEED=that MUTIRAO_SEEDS=1 replays it.
//
// Planted in a copy, these faults were caught: no new round when a link of the running one breaks,
// or only while it is unusable; a round of somebody else's kept by the host that leads; news,
// calls, or the newest number not passed on; no answer to an older round; numbers of others
// unheeded; a version never sent, or only by those who took part in making it; nothing told to who
// joins; steps dropped that come early, or that wait for a channel; no incarnations; links out of
// reach kept in a version; latencies that hide breaks; breaks of unusable links that count; links
// to hosts that left not told; everyone leading. Only rounds_test.cpp notices a channel that broke
// and carries on.

/// 3 to most_hosts hosts, sparse or dense, with up to a dozen events.
RoundsScript random_rounds_script(int most_hosts, std::uint64_t seed) {
    using enum RoundsEvent::Kind;
    constexpr std::array kinds = {latency, latency, latency, link, link,  link,
                                  reset,   reset,   host,    host, alarm, restart};
    constexpr std::array densities = {1.0, 0.7, 0.5, 0.3};
    Random random(seed);
    const std::size_t hosts = 3 + random.below(static_cast<std::size_t>(most_hosts) - 2);
    const bool few_values = random.below(3) == 0;
    const auto latency_us = [&] { return few_values ? static_cast<double>(random.below(4)) : 1000 * random.unit(); };
    RoundsScript script{static_cast<int>(hosts), std::vector<double>(hosts * hosts, 0), random.below(3) > 0, {}};
    const double density = densities[random.below(densities.size())];
    for (std::size_t low = 0; low < hosts; ++low) {
        for (std::size_t high = low + 1; high < hosts; ++high) {
            const double value = random.unit() < density ? latency_us() : never;
            script.latency_us[low * hosts + high] = script.latency_us[high * hosts + low] = value;
        }
    }
    for (std::size_t events = random.below(13); events > 0; --events) {
        // Often the same again: what is gone comes back.
        if (!script.events.empty() && random.below(3) == 0) {
            script.events.push_back(script.events.back());
            continue;
        }
        const auto a = random.below(hosts), b = (a + 1 + random.below(hosts - 1)) % hosts;
        const auto kind = kinds[random.below(kinds.size())];
        script.events.push_back({kind, static_cast<int>(a), static_cast<int>(b),
                                 random.below(6) == 0 ? never : latency_us()});
    }
    return script;
}

/// Each piece of news costs a flood of itself and one of a round's call, over every link in both
/// directions, and the steps of a round.
double most_messages(const RoundsScript& script, double news) {
    const double hosts = script.hosts;
    return 4 * hosts * hosts * news;
}

/// Each measurement is one. Hosts hear of each other once, and after an event once more.
double news_on(const RoundsScript& script, const std::vector<RoundsWorld::Choice>& path) {
    const auto measured = std::ranges::count(path, RoundsWorld::Choice::Kind::measure,
                                             &RoundsWorld::Choice::kind);
    return static_cast<double>(measured) +
           script.hosts * (1.0 + static_cast<double>(script.events.size()));
}

void walk_all(int most_hosts, std::uint64_t seeds_divisor) {
    double most_used = 0;  // of the bound on messages
    for (const std::uint64_t seed : seeds(seeds_divisor)) {
        const RoundsScript script = random_rounds_script(most_hosts, seed);
        const auto events = static_cast<double>(script.events.size());
        const double most_steps = most_messages(script, script.hosts * (script.hosts + 10 + events));
        const std::string about =
            std::to_string(script.hosts) + " hosts, " + (script.known ? "known" : "nothing known");
        walk(RoundsWorld(script), RoundsRules(), seed, most_steps, about, [&](const auto& walk) -> std::string {
            const auto messages = static_cast<double>(walk.counts()[0]);
            const double bound = most_messages(script, news_on(script, walk.path()));
            most_used = std::max(most_used, messages / bound);
            return messages <= bound ? "" : "more messages than " + std::to_string(bound);
        });
        if (testing::Test::HasFatalFailure()) return;
    }
    std::printf("at most %.0f%% of the bound on messages\n", 100 * most_used);
}

TEST(RoundsWalk, SmallNetworksEndWithTheSameTreeOnAllHostsWhateverHappens) { walk_all(10, 1); }

// One of them takes as long as sixty small ones: they get as much time, not as many seeds.
TEST(RoundsWalk, LargeNetworksDoSoToo) { walk_all(30, 60); }

// States of a host that differ from the first in one part of their digest only: what channels carry, the version, the
// links, the newest round heard of, the one last entered, and the one that runs.
TEST(Digest, TellsHostsOfRoundsApart) {
    using rounds::Message;
    const auto host = [](const EdgeList& tree) {
        Rounds made(2, known_links(3, triangle.latency_us), tree, 1);
        made.joined(1);
        return made;
    };
    const auto after = [&](const Message& message) {
        Rounds made = host({{0, 1}, {1, 2}});
        made.on(1, message);
        return made;
    };
    const std::uint64_t hash = host({{0, 1}, {1, 2}}).version().hash;
    Message call{.kind = rounds::Kind::round, .id = {5, 0, 1}, .base_hash = hash, .tree = {{0, 1}, {1, 2}}};
    Message without_it = call;
    without_it.links = {{0, 2, {}}, {1, 2, {}}};
    const auto states = [&] {
        return std::vector<Rounds>{host({{0, 1}, {1, 2}}),
                                   Rounds(2, known_links(3, triangle.latency_us), {{0, 1}, {1, 2}}, 1),
                                   host({{0, 1}, {0, 2}}),
                                   after({.kind = rounds::Kind::news, .links = {{0, 1, {0, 1, 9}}}}),
                                   after({.kind = rounds::Kind::newest, .id = call.id}),
                                   after(without_it),
                                   after(call)};
    };
    const std::vector<Rounds> once = states(), again = states();
    for (std::size_t i = 0; i < once.size(); ++i)
        for (std::size_t j = 0; j < again.size(); ++j)
            EXPECT_EQ(digest_of(once[i]) == digest_of(again[j]), i == j) << i << " and " << j;
}

// How long news and new trees take over the links of a real network, and how many messages, on a virtual clock: nothing
// here depends on the machine.

/// Twenty-four hosts in six sites.
const Network six_sites = test::six_sites();

RoundsScript six_sites_with(std::vector<RoundsEvent> events, bool known = true) {
    return {six_sites.host_count(), six_sites.latency_us(), known, std::move(events)};
}

struct Times {
    double all_know_us = 0;  ///< of the change
    double all_have_tree_us = 0;
    std::size_t messages = 0;
    std::size_t bytes = 0;
    int questions = 0;  ///< for a version
    int steps = 0;      ///< of rounds
};

class Watch {
  public:
    explicit Watch(const RoundsScript& script, bool cold = false)
        : run_(RoundsWorld(script), [this](int from, int to) {
              const double now_us = run_.world().true_latency_us(from, to);
              return std::isfinite(now_us) ? now_us : latency_us(from, to);
          }) {
        if (cold) return;
        run_what_arrives_at(0);
    }

    /// Hosts that know nothing greet each other over TCP: the lower one of two has its channel after
    /// two round trips, and with it an estimate of the latency; the higher one half a round trip
    /// later.
    Times cold_start() {
        for (int low = 0; low < world().host_count(); ++low) {
            for (int high = low + 1; high < world().host_count(); ++high) {
                const double one_way_us = latency_us(low, high);
                run_.schedule(4 * one_way_us, {Choose::deliver, high, low});
                run_.schedule(4 * one_way_us, {Choose::measure, high, low});
                run_.schedule(5 * one_way_us, {Choose::deliver, low, high});
            }
        }
        return until_rest([this](int host) {
            const NetworkView& view = world().machine(host).view();
            return view.unknown_links == 0 && view.latency_us == six_sites.latency_us();
        });
    }

    const RoundsWorld& world() const { return run_.world(); }

    /// The script's next event, a change of this link, and its owner's measurement.
    void change(int low, int high, double delay_us = 0) {
        run_.schedule(run_.now_us() + delay_us, {Choose::event, high, low});
        run_.schedule(run_.now_us() + delay_us, {Choose::measure, high, low});
    }

    /// What follows until nothing happens any more, and how this link became known.
    Times after_change(int low, int high) {
        return until_rest([this, low, high](int host) {
            const auto link = static_cast<std::size_t>(low * world().host_count() + high);
            return world().machine(host).view().latency_us[link] ==
                   world().true_latency_us(low, high);
        });
    }

    /// Every end finds out at once what differs from its view.
    Times measure_all() {
        for (std::size_t i = 0; i < world().spontaneous_count(); ++i)
            if (world().spontaneous(i).kind == Choose::measure)
                run_.schedule(run_.now_us(), world().spontaneous(i));
        return until_rest([](int) { return false; });
    }

    /// The script's next event, an agent that dies or comes back. Channels break, or work, after
    /// one latency; then the links are measured, and that is what the times count from.
    Times after_host(int host) {
        const double start_us = run_.now_us();
        run_.schedule(start_us, {Choose::event, 0, host});
        run_.step();
        run_what_arrives_at(start_us);
        return measure_all();
    }

  private:
    using Choose = RoundsWorld::Choice::Kind;

    /// At first.
    static double latency_us(int a, int b) { return six_sites.link(a, b).latency_us; }

    void run_what_arrives_at(double start_us) {
        for (std::size_t i = 0; i < world().delivery_count(); ++i) {
            const RoundsWorld::Choice choice = world().delivery(i);
            run_.schedule(start_us + latency_us(choice.from, choice.to), choice);
        }
        while (run_.step()) {}
    }

    template <class Knows>
    Times until_rest(Knows knows) {
        const double start_us = run_.now_us();
        const std::uint32_t before = world().machine(0).version().id.number;
        Times times;
        while (const auto step = run_.step()) {
            const double passed_us = step->time_us - start_us;
            int knowing = 0, having = 0, alive = 0;
            for (int host = 0; host < world().host_count(); ++host) {
                if (!world().alive(host)) continue;
                ++alive;
                if (knows(host)) ++knowing;
                if (world().machine(host).version().id.number > before) ++having;
            }
            note(times.all_know_us, knowing == alive, passed_us);
            note(times.all_have_tree_us, having == alive, passed_us);
            times.messages += step->sent.size();
            for (const auto& outgoing : step->sent) {
                times.bytes += rounds::encode(outgoing.message).size();
                if (outgoing.message.kind == rounds::Kind::ask_version) ++times.questions;
                if (outgoing.message.kind == rounds::Kind::step) ++times.steps;
            }
        }
        EXPECT_EQ(RoundsRules().objection_at_rest(world()), "");
        return times;
    }

    static void note(double& when_us, bool holds, double now_us) {
        if (holds && when_us == 0) when_us = now_us;
    }

    TimedRun<RoundsWorld> run_;
};

/// Of a message that goes by the shortest path from `from` to the farthest host.
double flood_us(const RoundsWorld& world, int from) {
    return test::farthest_us(Network(world.host_count(), truth(world)), from);
}

// The agents' own start. If links that are unknown were not waited for, it would take nine rounds.
TEST(RoundsTimedRun, HostsThatKnowNothingBuildTheirFirstTreeInOneRound) {
    Watch watch(six_sites_with({}, false), true);
    const Times times = watch.cold_start();
    EXPECT_EQ(watch.world().machine(23).version().id.number, 1U);
    EXPECT_LE(times.steps, 389);
    EXPECT_LE(times.all_know_us, 1.9e6);
    EXPECT_LE(times.all_have_tree_us, 6e6);
}

// The news take the shortest paths, whatever happened to a link of the tree.
TEST(RoundsTimedRun, EveryTreeLinkTenTimesWorseAndBack) {
    for (const auto& [low, high] : minimum_spanning_tree(six_sites)) {
        const double latency_us = six_sites.link(low, high).latency_us;
        Watch watch(six_sites_with(
            {{Kind::latency, low, high, 10 * latency_us}, {Kind::latency, low, high, latency_us}}));
        for (const int most_steps : {122, 6 * 23}) {
            watch.change(low, high);
            const Times times = watch.after_change(low, high);
            EXPECT_NEAR(times.all_know_us, flood_us(watch.world(), low), 1);
            EXPECT_LE(times.steps, most_steps);
            EXPECT_LE(times.all_have_tree_us, 2.2e6);
            EXPECT_LE(times.messages, 1200U);
            EXPECT_LE(times.bytes, 120'000U);
        }
    }
}

TEST(RoundsTimedRun, ARecoveryThatDoesNotHelpCostsThreeWaves) {
    Watch watch(six_sites_with({{Kind::latency, 1, 23, 0.9 * six_sites.link(1, 23).latency_us}}));
    watch.change(1, 23);
    EXPECT_EQ(watch.after_change(1, 23).steps, 3 * 23);
}

// The call of the second round overtakes the end of the first one, and tells it. The first one
// takes long, for it counts on a link that becomes slow meanwhile.
TEST(RoundsTimedRun, RoundsFollowEachOtherWithoutQuestions) {
    const double worse_us = 10 * six_sites.link(12, 16).latency_us;
    Watch watch(six_sites_with({{Kind::latency, 12, 16, worse_us}, {Kind::latency, 12, 20, worse_us}}));
    watch.change(12, 16);
    watch.change(12, 20, 100'000);
    const Times times = watch.after_change(12, 20);
    EXPECT_EQ(watch.world().machine(23).version().id.number, 2U);
    EXPECT_EQ(times.questions, 0);
}

// A host that leads, one that lies between sites, and a leaf. How long the others take to notice is
// not in here: one latency each.
TEST(RoundsTimedRun, AnAgentDiesAndComesBackWithNothing) {
    for (const int host : {0, 12, 23}) {
        Watch watch(six_sites_with({{Kind::host, host, 0, 0}, {Kind::host, host, 0, 0}}, false));
        watch.measure_all();
        watch.after_host(host);
        EXPECT_LE(watch.after_host(host).all_have_tree_us, 3e6);
    }
}

}  // namespace
}  // namespace mutirao::simulate
