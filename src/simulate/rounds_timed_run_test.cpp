// How long news and new trees take over the links of a real network, on a virtual clock: nothing
// here depends on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "core/network/test_networks.h"
#include "core/spanning_tree/wire.h"
#include "simulate/rounds_rules.h"
#include "simulate/timed_run.h"

namespace mutirao::simulate {
namespace {

/// Twenty-four hosts in six sites, with one change.
class SixSites {
  public:
    SixSites() {
        const Network network = test::six_sites();
        script_.hosts = network.host_count();
        for (int a = 0; a < script_.hosts; ++a)
            for (int b = 0; b < script_.hosts; ++b)
                script_.latency_us.push_back(a == b ? 0 : network.link(a, b).latency_us);
    }

    RoundsScript& script() { return script_; }
    const RoundsScript& script() const { return script_; }
    double latency_us(int a, int b) const {
        return script_.latency_us[static_cast<std::size_t>(a * script_.hosts + b)];
    }
    EdgeList tree() const { return spanning_forest(script_.hosts, script_.latency_us); }

  private:
    RoundsScript script_;
};

struct Times {
    double root_knows_us = 0;  ///< of the change
    double all_know_us = 0;
    double root_has_tree_us = 0;
    double all_have_tree_us = 0;
    std::size_t messages = 0;
    std::size_t bytes = 0;
    int questions = 0;  ///< for a version
    int of_maintenance = 0;  ///< steps of rounds with failures or recoveries
};

class Watch {
  public:
    explicit Watch(const SixSites& sites, bool cold = false)
        : sites_(sites), run_(RoundsWorld(sites.script()), [this](int from, int to) {
              const double now_us = run_.world().true_latency_us(from, to);
              return std::isfinite(now_us) ? now_us : sites_.latency_us(from, to);
          }) {
        if (cold) return;
        run_what_arrives_at(0);
        while (run_.step()) {}
    }

    /// Hosts that know nothing greet each other over TCP: the lower one of two has its channel after
    /// two round trips, and with it an estimate of the latency; the higher one half a round trip
    /// later.
    Times cold_start() {
        for (int low = 0; low < world().host_count(); ++low) {
            for (int high = low + 1; high < world().host_count(); ++high) {
                using Kind = RoundsWorld::Choice::Kind;
                const double one_way_us = sites_.latency_us(low, high);
                run_.schedule(4 * one_way_us, {Kind::deliver, high, low});
                run_.schedule(4 * one_way_us, {Kind::measure, high, low});
                run_.schedule(5 * one_way_us, {Kind::deliver, low, high});
            }
        }
        return until_rest([this](int host) {
            const NetworkView& view = world().machine(host).view();
            return view.unknown_links == 0 && view.latency_us == sites_.script().latency_us;
        });
    }

    const RoundsWorld& world() const { return run_.world(); }

    /// The script's next event, a change of this link, and its owner's measurement.
    void change(int low, int high, double delay_us = 0) {
        using Kind = RoundsWorld::Choice::Kind;
        run_.schedule(run_.now_us() + delay_us, {Kind::event, high, low});
        run_.schedule(run_.now_us() + delay_us, {Kind::measure, high, low});
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
            if (world().spontaneous(i).kind == RoundsWorld::Choice::Kind::measure)
                run_.schedule(run_.now_us(), world().spontaneous(i));
        return until_rest([](int) { return false; });
    }

    /// The script's next event, an agent that dies or comes back. Channels break, or work, after
    /// one latency; then the links are measured, and that is what the times count from.
    Times after_host(int host) {
        const double start_us = run_.now_us();
        run_.schedule(start_us, {RoundsWorld::Choice::Kind::event, 0, host});
        run_.step();
        run_what_arrives_at(start_us);
        while (run_.step()) {}
        return measure_all();
    }

  private:
    void run_what_arrives_at(double start_us) {
        for (std::size_t i = 0; i < world().delivery_count(); ++i) {
            const RoundsWorld::Choice choice = world().delivery(i);
            run_.schedule(start_us + sites_.latency_us(choice.from, choice.to), choice);
        }
    }

    template <class Knows>
    Times until_rest(Knows knows) {
        const double start_us = run_.now_us();
        const std::uint32_t before = world().machine(0).version().number;
        Times times;
        while (const auto step = run_.step()) {
            const double passed_us = step->time_us - start_us;
            int knowing = 0, having = 0, alive = 0;
            for (int host = 0; host < world().host_count(); ++host) {
                if (!world().alive(host)) continue;
                ++alive;
                if (knows(host)) ++knowing;
                if (world().machine(host).version().number > before) ++having;
            }
            note(times.root_knows_us, knows(0), passed_us);
            note(times.all_know_us, knowing == alive, passed_us);
            note(times.root_has_tree_us, world().machine(0).version().number > before, passed_us);
            note(times.all_have_tree_us, having == alive, passed_us);
            add_up(step->sent, times);
        }
        return times;
    }

    static void note(double& when_us, bool holds, double now_us) {
        if (holds && when_us == 0) when_us = now_us;
    }

    static void add_up(const rounds::Output& sent, Times& times) {
        times.messages += sent.size();
        for (const auto& outgoing : sent) {
            times.bytes += rounds::encode(outgoing.message).size();
            if (outgoing.message.kind == rounds::Kind::ask_version) ++times.questions;
            const auto kind = outgoing.message.step.kind;
            if (outgoing.message.kind == rounds::Kind::step &&
                (kind == maintenance::Kind::gosleep_fail || kind == maintenance::Kind::not_rec))
                ++times.of_maintenance;
        }
    }

    const SixSites& sites_;
    TimedRun<RoundsWorld> run_;
};

void print(const std::string& what, const Times& times) {
    std::printf("%-12s root knows %.3f s, all know %.3f s, root's tree %.3f s, all's %.3f s; "
                "%zu messages, %zu bytes\n",
                what.c_str(), times.root_knows_us / 1e6, times.all_know_us / 1e6,
                times.root_has_tree_us / 1e6, times.all_have_tree_us / 1e6, times.messages,
                times.bytes);
}

std::string name(const char* what, int low, int high) {
    return std::string(what) + " " + std::to_string(low) + "-" + std::to_string(high);
}

/// Of a message that goes by the shortest path from `from` to the farthest host.
double flood_us(const RoundsWorld& world, int from) {
    std::vector<double> times(static_cast<std::size_t>(world.host_count()),
                              std::numeric_limits<double>::infinity());
    times[static_cast<std::size_t>(from)] = 0;
    for (int hops = 1; hops < world.host_count(); ++hops) {
        for (int a = 0; a < world.host_count(); ++a) {
            for (int b = 0; b < world.host_count(); ++b) {
                double& time = times[static_cast<std::size_t>(b)];
                time = std::min(time, times[static_cast<std::size_t>(a)] +
                                          (a == b ? 0 : world.true_latency_us(a, b)));
            }
        }
    }
    return std::ranges::max(times);
}

// The agents' own start. If links that are unknown were not waited for, it would take nine rounds.
TEST(RoundsTimedRun, HostsThatKnowNothingBuildTheirFirstTreeInOneRound) {
    SixSites sites;
    sites.script().known = false;
    Watch watch(sites, true);
    const Times times = watch.cold_start();
    print("first tree", times);
    EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
    EXPECT_EQ(watch.world().machine(23).version().number, 1U);
    EXPECT_EQ(times.of_maintenance, 0);
    EXPECT_LE(times.all_know_us, 1.9e6);
    EXPECT_LE(times.all_have_tree_us, 6e6);
}

// The news take the shortest paths, whatever happened to a link of the tree.
TEST(RoundsTimedRun, EveryTreeLinkTenTimesWorseAndBack) {
    for (const auto& [low, high] : SixSites().tree()) {
        SixSites sites;
        const double latency_us = sites.latency_us(low, high);
        sites.script().events = {{RoundsEvent::Kind::latency, low, high, 10 * latency_us},
                                 {RoundsEvent::Kind::latency, low, high, latency_us}};
        Watch watch(sites);
        watch.change(low, high);
        const Times worse = watch.after_change(low, high);
        EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
        EXPECT_NEAR(worse.all_know_us, flood_us(watch.world(), low), 1);
        watch.change(low, high);
        const Times better = watch.after_change(low, high);
        EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
        EXPECT_NEAR(better.all_know_us, flood_us(watch.world(), low), 1);
        if (latency_us > 1000 || low == 0) {
            print(name("worse", low, high), worse);
            print(name("better", low, high), better);
        }
        for (const Times& times : {worse, better}) {
            EXPECT_LE(times.all_have_tree_us, 2.2e6);
            EXPECT_LE(times.messages, 1200U);
            EXPECT_LE(times.bytes, 120'000U);
        }
    }
}

// The call of the second round overtakes the end of the first one, and tells it. The first one
// takes long, for it counts on a link that becomes slow meanwhile.
TEST(RoundsTimedRun, RoundsFollowEachOtherWithoutQuestions) {
    SixSites sites;
    const double latency_us = sites.latency_us(12, 16);
    sites.script().events = {{RoundsEvent::Kind::latency, 12, 16, 10 * latency_us},
                             {RoundsEvent::Kind::latency, 12, 20, 10 * latency_us}};
    Watch watch(sites);
    watch.change(12, 16);
    watch.change(12, 20, 100'000);
    const Times times = watch.after_change(12, 20);
    EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
    EXPECT_EQ(watch.world().machine(23).version().number, 2U);
    EXPECT_EQ(times.questions, 0);
}

// A host that leads, one that lies between sites, and a leaf. How long the others take to notice is
// not in here: one latency each.
TEST(RoundsTimedRun, AnAgentDiesAndComesBackWithNothing) {
    for (const int host : {0, 12, 23}) {
        SixSites sites;
        sites.script().events = {{RoundsEvent::Kind::host, host, 0, 0},
                                 {RoundsEvent::Kind::host, host, 0, 0}};
        sites.script().known = false;
        Watch watch(sites);
        watch.measure_all();
        watch.after_host(host);
        EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
        const Times back = watch.after_host(host);
        EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
        print("host " + std::to_string(host), back);
        EXPECT_LE(back.all_have_tree_us, 3e6);
    }
}

}  // namespace
}  // namespace mutirao::simulate
