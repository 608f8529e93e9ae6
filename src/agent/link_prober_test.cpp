// One link, with a made-up clock and network: what is announced when it changes, dies, comes back, or
// lets no UDP through.
#include "agent/link_prober.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace mutirao::agent {
namespace {

constexpr std::int64_t dead_after = 5 * ns_per_s;
constexpr std::int64_t period = ns_per_s / 4;

/// Drives a prober in virtual time; answers come back after `one_way_us` twice, at first as announced.
class World {
  public:
    explicit World(std::optional<double> announced_us = std::nullopt)
        : prober(ChangeRule{}, announced_us, dead_after), one_way_us(announced_us.value_or(20'000)) {
        prober.set_period(period, now);
        prober.start(now, now);
    }

    void run_until(std::int64_t end) {
        while (true) {
            std::int64_t next = prober.next_ns();
            if (!answers_.empty()) next = std::min(next, answers_.begin()->first);
            if (next > end) break;
            now = std::max(next, now);
            ASSERT_LT(++steps_, 100'000) << "woken again and again";
            step();
        }
        now = end;
    }
    void run_for(std::int64_t span) { run_until(now + span); }

    LinkProber prober;
    std::int64_t now = 1000 * ns_per_s;
    double one_way_us;
    std::int64_t busy_until = 0;  ///< no answer before
    bool udp_passes = true;
    bool channel_passes = true;
    int sent_udp = 0;
    int sent_channel = 0;
    /// (time, value), whenever what is announced changes.
    std::vector<std::pair<std::int64_t, double>> announced;

  private:
    void step() {
        const auto before = prober.announced_us();
        while (!answers_.empty() && answers_.begin()->first <= now) {
            prober.answered(answers_.begin()->second, 0, answers_.begin()->first);
            answers_.erase(answers_.begin());
        }
        const ProbesDue due = prober.advance(now);
        if (due.udp) send({Way::udp, ++number_}, udp_passes, sent_udp);
        if (due.channel) send({Way::channel, ++number_}, channel_passes, sent_channel);
        if (prober.announced_us() != before) announced.emplace_back(now, *prober.announced_us());
    }
    void send(ProbeId probe, bool passes, int& count) {
        prober.sent(probe, now);
        ++count;
        const auto back = now + static_cast<std::int64_t>(2 * one_way_us * ns_per_us);
        if (passes) answers_.emplace(std::max(back, busy_until), probe);
    }

    std::multimap<std::int64_t, ProbeId> answers_;
    std::uint32_t number_ = 0;
    int steps_ = 0;
};

TEST(LinkProber, ASteadyLinkIsAnnouncedOnceAndProbedOncePerPeriod) {
    World world;
    world.run_for(60 * ns_per_s);
    ASSERT_EQ(world.announced.size(), 1U);
    EXPECT_DOUBLE_EQ(world.announced[0].second, 20'000);
    EXPECT_NEAR(world.sent_udp, 240, 2);
    EXPECT_EQ(world.sent_channel, 0);
    EXPECT_EQ(world.prober.late_probes(), 0U);
}

TEST(LinkProber, AnEstimateHoldsUntilTheFirstAnswer) {
    World world;
    world.prober.estimated(30'000);
    EXPECT_EQ(world.prober.announced_us(), 30'000);
    world.run_for(60 * ns_per_s);
    ASSERT_EQ(world.announced.size(), 1U);
    EXPECT_DOUBLE_EQ(world.announced[0].second, 20'000);
    EXPECT_EQ(world.announced[0].first, 1000 * ns_per_s + 40 * ns_per_ms);
    World close;
    close.prober.estimated(20'900);
    close.run_for(60 * ns_per_s);
    EXPECT_TRUE(close.announced.empty());
}

// Fails if answers can be late before there was one.
TEST(LinkProber, AnEstimateMakesNoLinkOverdueWhereUdpIsFiltered) {
    World world;
    world.udp_passes = false;
    world.prober.estimated(20'000);
    world.run_for(60 * ns_per_s);
    EXPECT_TRUE(world.announced.empty());
    EXPECT_TRUE(world.prober.over_channel());
}

/// What is announced of a link once it takes longer or shorter than it did for a while.
struct News {
    double before_us, after_us;
    std::int64_t within_ns;      ///< the first comes so soon
    std::size_t most;            ///< so many at most
    bool overestimates = false;  ///< the first may be more than it is: no answer has come yet
    std::int64_t period_ns = period;
};

// Fails if late probes are not noticed before they are answered: ten times worse is news before the first slow answer
// is there, and then what it really is. Of a link that is probed rarely the second probe does not wait for its turn,
// neither after the first late reply nor after a better one.
TEST(LinkProber, ALinkThatChangesIsNews) {
    for (const News& wanted :
         {News{20'000, 200'000, 600 * ns_per_ms, 3, true}, News{200'000, 20'000, ns_per_s, 1},
          News{100, 20'000, 600 * ns_per_ms, 1}, News{50'000, 40'000, 2'200 * ns_per_ms, 1, false, 2 * ns_per_s},
          News{20'000, 200'000, 5'400 * ns_per_ms, 3, true, 10 * ns_per_s}}) {
        World world(wanted.before_us);
        world.prober.set_period(wanted.period_ns, world.now);
        world.run_for(55 * ns_per_s);
        const std::int64_t change = world.now;
        const int sent_before = world.sent_udp;
        world.one_way_us = wanted.after_us;
        world.run_for(20 * ns_per_s);
        SCOPED_TRACE(testing::Message() << wanted.before_us << " us, probed each " << wanted.period_ns << " ns");
        ASSERT_FALSE(world.announced.empty());
        EXPECT_LE(world.announced.size(), wanted.most);
        EXPECT_LT(world.announced[0].first - change, wanted.within_ns);
        EXPECT_GE(world.announced[0].second, wanted.after_us);
        if (!wanted.overestimates) {
            EXPECT_DOUBLE_EQ(world.announced[0].second, wanted.after_us);
        }
        EXPECT_DOUBLE_EQ(world.prober.announced_us().value_or(0), wanted.after_us);
        EXPECT_LE(world.sent_udp - sent_before, 20 * ns_per_s / wanted.period_ns + 2);
    }
}

// Fails if one late probe is enough, or a first slow answer is believed; if nothing but the number of late probes counts,
// or probes that were under way at the same time confirm each other.
TEST(LinkProber, WhatPassesIsNoNews) {
    const struct {
        const char* what;
        double one_way_us;
        std::int64_t period_ns, until_ns;
        void (*disturb)(World&);
        unsigned late_probes;
    } cases[] = {
        {"one lost probe; of a long link, as on a short one the second is back before anything is overdue", 200'000,
         2 * ns_per_s, 20 * ns_per_s,
         [](World& world) {
             world.udp_passes = false;
             world.run_for(2 * ns_per_s);
             world.udp_passes = true;
         },
         1},
        {"one slow answer", 100, period, 20 * ns_per_s,
         [](World& world) {
             world.one_way_us = 15'000;
             world.run_for(period);
             world.one_way_us = 100;
         },
         0},
        {"all probes of a moment come back late, together, from a busy host", 100, period,
         20 * ns_per_s + period - 10 * ns_per_ms, [](World& world) { world.busy_until = world.now + 210 * ns_per_ms; }, 2},
        {"the prober itself pauses", 20'000, period, 20 * ns_per_s,
         [](World& world) {
             world.now += 30 * ns_per_s;
             world.prober.excuse(world.now);
         },
         0},
    };
    for (const auto& [what, one_way_us, period_ns, until_ns, disturb, late_probes] : cases) {
        SCOPED_TRACE(what);
        World world(one_way_us);
        world.prober.set_period(period_ns, world.now);
        world.run_for(until_ns);
        disturb(world);
        world.run_for(20 * ns_per_s);
        EXPECT_GE(world.prober.late_probes(), late_probes);
        EXPECT_TRUE(world.announced.empty());
    }
}

TEST(LinkProber, ADeadLinkBecomesInfiniteAndIsAnnouncedAgainWhenItIsBack) {
    World world(20'000);
    world.run_for(20 * ns_per_s);
    const std::int64_t change = world.now;
    world.udp_passes = world.channel_passes = false;
    world.run_for(30 * ns_per_s);
    ASSERT_FALSE(world.announced.empty());
    EXPECT_TRUE(std::isinf(world.announced.back().second));
    EXPECT_LT(world.announced.back().first - change, dead_after + 2 * period);
    world.udp_passes = world.channel_passes = true;
    world.run_for(2 * ns_per_s);
    EXPECT_DOUBLE_EQ(world.announced.back().second, 20'000);
    EXPECT_FALSE(world.prober.over_channel());
}

// Slower than dead_after: its answers come all the same, one after the other.
TEST(LinkProber, AVerySlowLinkIsNotDead) {
    World world(20'000);
    world.run_for(20 * ns_per_s);
    world.one_way_us = 3'500'000;
    world.run_for(60 * ns_per_s);
    EXPECT_DOUBLE_EQ(world.prober.announced_us().value_or(0), 3'500'000);
}

TEST(LinkProber, WhereUdpIsFilteredProbesGoThroughTheChannel) {
    World world;
    world.udp_passes = false;
    world.run_for(20 * ns_per_s);
    EXPECT_TRUE(world.prober.over_channel());
    EXPECT_DOUBLE_EQ(world.prober.announced_us().value_or(0), 20'000);
    const int udp_before = world.sent_udp;
    world.run_for(20 * ns_per_s);
    EXPECT_LT(world.sent_udp - udp_before, 20);
    world.udp_passes = true;
    world.run_for(10 * ns_per_s);
    EXPECT_FALSE(world.prober.over_channel());
    EXPECT_EQ(world.announced.size(), 1U);
}

TEST(LinkProber, AStoppedProberIsSilentAndAReturnIsMeasuredAnew) {
    World world(20'000);
    world.run_for(20 * ns_per_s);
    world.prober.stop();
    const int sent = world.sent_udp;
    world.run_for(60 * ns_per_s);
    EXPECT_EQ(world.sent_udp, sent);
    world.one_way_us = 30'000;
    world.prober.start(world.now, world.now);
    world.run_for(ns_per_s);
    EXPECT_DOUBLE_EQ(world.prober.announced_us().value_or(0), 30'000);
}

using Ticks = std::array<std::int64_t, 2>;

TEST(StolenTime, CountsWhatTheWorstProcessorLostSinceTheReadingBefore) {
    StolenTime stolen;
    EXPECT_EQ(stolen.since(0), 0);
    stolen.read(0, Ticks{1000, 5000});
    stolen.read(200 * ns_per_ms, Ticks{1000, 5000 + 30 * ns_per_ms});
    stolen.read(400 * ns_per_ms, Ticks{1000 + 50 * ns_per_ms, 5000 + 40 * ns_per_ms});
    EXPECT_EQ(stolen.since(200 * ns_per_ms), 50 * ns_per_ms);
    EXPECT_EQ(stolen.since(100 * ns_per_ms), 50 * ns_per_ms);
    EXPECT_EQ(stolen.since(390 * ns_per_ms), 10 * ns_per_ms);
    EXPECT_EQ(stolen.since(400 * ns_per_ms), 0);
}

TEST(StolenTime, ALateWakeUpIsTimeLost) {
    StolenTime stolen;
    stolen.read(0, {});
    stolen.overslept(20 * ns_per_ms);
    stolen.read(ns_per_s, {});
    EXPECT_EQ(stolen.since(0), 20 * ns_per_ms);
}

TEST(StolenTime, AValueIsBelievedAsFarAsNothingWasStolen) {
    EXPECT_EQ(StolenTime::credible(50, 0, 20), 50);
    EXPECT_EQ(StolenTime::credible(50, 40, 20), 20);
    EXPECT_EQ(StolenTime::credible(50, 10, 20), 40);
    EXPECT_EQ(StolenTime::credible(10, 40, 20), 10);
}

/// A link of 20 ms to and fro that is probed once more after it was measured; the answer to that
/// probe comes so late, and for so long the host was not at work.
struct LateAnswer {
    explicit LateAnswer(std::int64_t stolen_ns) : prober({}, 10'000, 5 * ns_per_s, 1, &stolen) {
        stolen.read(0, Ticks{});
        prober.set_period(ns_per_s, 0);
        prober.start(0, 0);
        prober.advance(0);
        prober.sent({Way::udp, 1}, 0);
        stolen.read(500 * ns_per_ms, Ticks{0, stolen_ns});
        prober.advance(500 * ns_per_ms);
    }
    StolenTime stolen;
    LinkProber prober;
};

TEST(StolenTime, AProbeIsNotLateForTimeThatWasStolen) {
    EXPECT_EQ(LateAnswer(0).prober.late_probes(), 1U);
    LateAnswer stolen(460 * ns_per_ms);
    EXPECT_EQ(stolen.prober.late_probes(), 0U);
    // Nor is it looked at again at once, but when it is late all the same.
    EXPECT_GT(stolen.prober.next_ns(), 500 * ns_per_ms);
    EXPECT_LT(stolen.prober.next_ns(), 550 * ns_per_ms);
    stolen.prober.advance(stolen.prober.next_ns());
    EXPECT_EQ(stolen.prober.late_probes(), 1U);
}

TEST(StolenTime, ASlowAnswerMakesNoSlowLinkWhenTimeWasStolen) {
    LateAnswer honest(0), stolen(485 * ns_per_ms);
    for (std::uint32_t number = 1; number <= 3; ++number) {
        const std::int64_t sent_ns = (number - 1) * ns_per_s;
        for (LateAnswer* each : {&honest, &stolen}) {
            const std::int64_t loss_ns = each == &stolen ? 485 * ns_per_ms : 0;
            if (number > 1) {
                each->stolen.read(sent_ns, Ticks{0, loss_ns * (number - 1)});
                each->prober.sent({Way::udp, number}, sent_ns);
                each->stolen.read(sent_ns + 500 * ns_per_ms, Ticks{0, loss_ns * number});
            }
            each->prober.answered({Way::udp, number}, 0, sent_ns + 500 * ns_per_ms);
        }
    }
    EXPECT_EQ(stolen.prober.announced_us(), 10'000);
    EXPECT_GT(honest.prober.announced_us(), 100'000);
}

}  // namespace
}  // namespace mutirao::agent
