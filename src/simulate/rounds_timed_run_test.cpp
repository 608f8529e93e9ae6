// How long news and new trees take over the links of a real network, on a virtual clock: nothing
// here depends on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "core/network/test_networks.h"
#include "core/spanning_tree/rounds_wire.h"
#include "simulate/rounds_rules.h"
#include "simulate/timed_run.h"

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

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
    double latency_us(int a, int b) const {
        return script_.latency_us[static_cast<std::size_t>(a * script_.hosts + b)];
    }
    EdgeList tree() const { return spanning_forest(script_.hosts, script_.latency_us); }

  private:
    RoundsScript script_;
};

struct Times {
    double root_knows_us = 0;     ///< of the change
    double all_know_us = 0;
    double root_has_tree_us = 0;
    double all_have_tree_us = 0;
    std::size_t messages = 0;
    std::size_t bytes = 0;
};

class Watch {
  public:
    explicit Watch(SixSites& sites)
        : sites_(sites), run_(RoundsWorld(sites.script()), [this](int from, int to) {
              const double now_us = run_.world().true_latency_us(from, to);
              return std::isfinite(now_us) ? now_us : sites_.latency_us(from, to);
          }) {
        for (std::size_t i = 0; i < run_.world().delivery_count(); ++i)
            run_.schedule(0, run_.world().delivery(i));
        while (run_.step()) {}
    }

    const RoundsWorld& world() const { return run_.world(); }

    /// The script's one event, a change of this link.
    Times after(int low, int high, double latency_us) {
        using Kind = RoundsWorld::Choice::Kind;
        const double start_us = run_.now_us();
        run_.schedule(start_us, {Kind::event, high, low});
        run_.schedule(start_us, {Kind::measure, high, low});
        Times times;
        const std::size_t link = static_cast<std::size_t>(low * world().host_count() + high);
        while (const auto step = run_.step()) {
            const double passed_us = step->time_us - start_us;
            int knowing = 0, having = 0;
            for (int host = 0; host < world().host_count(); ++host) {
                const Rounds& machine = world().machine(host);
                if (machine.view().latency_us[link] == latency_us) ++knowing;
                if (machine.version().number > 0) ++having;
            }
            note(times.root_knows_us, world().machine(0).view().latency_us[link] == latency_us,
                 passed_us);
            note(times.all_know_us, knowing == world().host_count(), passed_us);
            note(times.root_has_tree_us, world().machine(0).version().number > 0, passed_us);
            note(times.all_have_tree_us, having == world().host_count(), passed_us);
            times.messages += step->sent.size();
            for (const auto& outgoing : step->sent)
                times.bytes += rounds::encode(outgoing.message).size();
        }
        return times;
    }

  private:
    static void note(double& when_us, bool holds, double now_us) {
        if (holds && when_us == 0) when_us = now_us;
    }

    SixSites& sites_;
    TimedRun<RoundsWorld> run_;
};

void print(const char* what, int low, int high, const Times& times) {
    std::printf("%-10s %2d-%2d: root knows %.3f s, all know %.3f s, root's tree %.3f s, all's "
                "%.3f s; %zu messages, %zu bytes\n",
                what, low, high, times.root_knows_us / 1e6, times.all_know_us / 1e6,
                times.root_has_tree_us / 1e6, times.all_have_tree_us / 1e6, times.messages,
                times.bytes);
}

TEST(RoundsTimedRun, TreeLinkTenTimesWorse) {
    const EdgeList tree = SixSites().tree();
    double worst_us = 0;
    for (const auto& [low, high] : tree) {
        SixSites sites;
        const double worse_us = 10 * sites.latency_us(low, high);
        sites.script().events = {{RoundsEvent::Kind::latency, low, high, worse_us}};
        Watch watch(sites);
        const Times times = watch.after(low, high, worse_us);
        EXPECT_EQ(RoundsRules().objection_at_rest(watch.world()), "");
        if (sites.latency_us(low, high) > 1000 || low == 0) print("worse", low, high, times);
        worst_us = std::max(worst_us, times.all_have_tree_us);
    }
    std::printf("worst %.3f s\n", worst_us / 1e6);
}

}  // namespace
}  // namespace mutirao::simulate
